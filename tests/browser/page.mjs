// SPDX-License-Identifier: Apache-2.0
// Headless Chromium, a local server for the pages, and a list of named checks.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { chromium } from 'playwright-core';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const STRICT = "default-src 'none'";

// Serves DIR/NAME under /NAME, and with the strict policy under /strict/NAME.
export async function serve(directory) {
  const server = createServer(async (request, response) => {
    try {
      const body = await readFile(join(directory, basename(decodeURIComponent(request.url))));
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      if (request.url.startsWith('/strict/'))
        response.setHeader('Content-Security-Policy', STRICT);
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// A browser with a fresh user data directory, which goes when it is closed.
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM, headless: true, args: ARGUMENTS,
  });
}

// Opens a page and keeps what must not happen: messages, errors, requests.
export class Visit {
  static async open(browser, url, options = {}) {
    const { media, ...rest } = options;
    const visit = new Visit();
    visit.context = await browser.newContext(rest);
    visit.context.setDefaultTimeout(30000);
    visit.page = await visit.context.newPage();
    visit.noise = [];
    visit.requests = [];
    visit.page.on('console', (m) => visit.noise.push(`${m.type()}: ${m.text()}`));
    visit.page.on('pageerror', (e) => visit.noise.push(`error: ${e.message}`));
    visit.page.on('dialog', (d) => { visit.noise.push(`dialog: ${d.message()}`); d.dismiss(); });
    visit.page.on('request', (r) => visit.requests.push(r.url()));
    if (media)
      await visit.page.emulateMedia(media);
    await visit.page.goto(url);
    return visit;
  }

  close() { return this.context.close(); }
}

export class Checks {
  constructor() { this.failed = []; this.passed = 0; }

  that(condition, words) {
    if (condition)
      this.passed++;
    else
      this.failed.push(words);
  }

  equal(got, want, words) {
    this.that(got === want, `${words}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
  }

  finish() {
    for (const words of this.failed)
      console.log(`FAILED: ${words}`);
    console.log(`${this.passed} checks passed, ${this.failed.length} failed`);
    return this.failed.length || this.passed < 100 ? 1 : 0;
  }
}
