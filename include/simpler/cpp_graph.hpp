// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_GRAPH_HPP
#define SIMPLER_CPP_GRAPH_HPP

/*
 * Graphs that are submitted again and again with other arguments.  A submit
 * calls the graph's function, which submits its tasks in the ordinary way; nothing
 * is recorded, so the function may also look at its arguments' values.
 */
#include <utility>

#include "simpler/cpp_orch.hpp"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
/** Arguments of one graph: tensors, by reference until the submit, and scalars. */
class GraphTaskArgs
{
  public:
    template <class... T> void add_input(T &&...tensors)
    {
        args_.add_input(tensors...);
        static_assert((std::is_lvalue_reference_v<T> && ...), "give lvalues");
    }
    template <class... T> void add_inout(T &&...tensors)
    {
        args_.add_inout(tensors...);
        static_assert((std::is_lvalue_reference_v<T> && ...), "give lvalues");
    }
    template <class... T> void add_output(T &&...tensors)
    {
        static_assert((detail::is_tensor<T> && ...), "a graph's outputs are ChipTensors");
        static_assert((std::is_lvalue_reference_v<T> && ...), "give lvalues");
        args_.add_output(tensors...);
    }
    template <class... T> void add_scalar(const T &...values)
    {
        args_.add_scalar(values...);
    }
    const ChipTensor &tensor(uint32_t i) const
    {
        if (i < args_.tensor_count())
            return *static_cast<const ChipTensor *>(args_.c()->tensor[i]);
        detail::fault("tensor(%u): the graph has %u tensors", i, args_.tensor_count());
        return detail::nothing;
    }
    uint64_t scalar(uint32_t i) const
    {
        if (i < args_.scalar_count())
            return args_.c()->scalar[i];
        detail::fault("scalar(%u): the graph has %u scalars", i, args_.scalar_count());
        return 0;
    }
    uint32_t tensor_count() const
    {
        return args_.tensor_count();
    }
    uint32_t scalar_count() const
    {
        return args_.scalar_count();
    }
    const char *error_text() const
    {
        return args_.has_error ? args_.error_msg : nullptr;
    }

  private:
    CoreTaskArgs args_;
};

/** Calls @fn(args, config...) as one graph. */
template <class Fn, class... Config>
void rt_submit_graph(Fn &&fn, const GraphTaskArgs &args, Config &&...config)
{
    if (!detail::is_in_run("rt_submit_graph") || rt_is_fatal())
        return;
    if (args.error_text() != nullptr)
        detail::fault("rt_submit_graph: %s", args.error_text());
    else
        std::forward<Fn>(fn)(args, std::forward<Config>(config)...);
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
