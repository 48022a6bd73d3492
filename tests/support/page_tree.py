# SPDX-License-Identifier: Apache-2.0
"""A page as a tree of nodes: find(), text, attributes; strict about nesting."""
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input", "img", "hr"}


class Node:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children, self.words = [], []
        self.order = 0

    def get(self, name):
        return self.attributes.get(name)

    def walk(self):
        for child in self.children:
            yield child
            yield from child.walk()

    def find(self, tag=None, **attributes):
        """All descendants with the tag and the attributes (class_ has a word)."""
        wanted = {k.rstrip("_").replace("_", "-"): v for k, v in attributes.items()}
        for node in self.walk():
            if tag in (None, node.tag) and all(
                    v in (node.get(k) or "").split() if k == "class" else node.get(k) == v
                    for k, v in wanted.items()):
                yield node

    def one(self, tag=None, **attributes):
        found = list(self.find(tag, **attributes))
        assert len(found) == 1, "%d of %s %r" % (len(found), tag, attributes)
        return found[0]

    @property
    def text(self):
        return " ".join("".join(self.pieces()).split())

    def pieces(self):
        for word in self.words:
            if isinstance(word, Node):
                yield from word.pieces()
            else:
                yield word


class _Builder(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("", (), None)
        self.count = 0

    def handle_starttag(self, tag, attrs):
        node = Node(tag, attrs, self.at)
        self.count += 1
        node.order = self.count
        self.at.children.append(node)
        self.at.words.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag, attrs):
        before = self.at
        self.handle_starttag(tag, attrs)
        self.at = before

    def handle_endtag(self, tag):
        assert self.at.tag == tag, "</%s> closes <%s> at %r" % (tag, self.at.tag, self.getpos())
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.words.append(data)


def parse(page):
    builder = _Builder()
    builder.feed(page)
    builder.close()
    assert builder.at is builder.root, "<%s> is not closed" % builder.at.tag
    return builder.root
