// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_TENSOR_HPP
#define SIMPLER_CPP_TENSOR_HPP

/*
 * Tensors and buffers to be created, with the names and the layout of the
 * SIMPLER documents.  The rules are those of tensor.h; a broken one is a fault
 * (cpp_runtime.hpp).
 */
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "simpler/cpp_runtime.hpp"
#include "simpler/tensor.h"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
inline constexpr uint32_t MAX_TENSOR_DIMS = SIMPLER_MAX_DIMS;

enum class DataType : uint8_t {
#define X(id, NAME, text, bytes) NAME = (id),
    SIMPLER_DTYPE_MAP(X)
#undef X
        DATA_TYPE_NUM
};

enum class AddressSpace : uint8_t { HOST = 0, DEVICE = 1 };

/** Bytes of one element; 0 for a value that is none of the enumerators. */
inline uint64_t get_element_size(DataType dtype)
{
    return SIMPLER_CALL(dtype_bytes)(static_cast<uint32_t>(dtype));
}

/** Lower case, as in a manifest; "UNKNOWN" for a value that is none of the enumerators. */
inline const char *get_dtype_name(DataType dtype)
{
    return SIMPLER_CALL(dtype_name)(static_cast<uint32_t>(dtype));
}

/** The value's own bytes low, the others zero. */
template <class T> uint64_t to_u64(T value)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t),
                  "a scalar is trivially copyable and has at most 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

template <class T> T from_u64(uint64_t bits)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t),
                  "a scalar is trivially copyable and has at most 8 bytes");
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
}

/**
 * A strided view of a buffer: 128 bytes, what kernels see.  It owns nothing.
 * Element (i0, i1, ...) is at buffer.addr + (start_offset + sum(i_k * strides[k])) * element size.
 */
struct alignas(64) ChipTensor {
    struct Buffer {
        uint64_t addr; /**< bytes */
        uint64_t size; /**< bytes of the whole buffer */
    } buffer;
    uint64_t owner_task_id; /**< its creator; all ones when no task created it */
    uint64_t start_offset;  /**< elements */
    int32_t version;
    uint32_t ndims; /**< 1 to 5 */
    DataType dtype;
    bool manual_dep;    /**< no inference, the creator's edge alone */
    bool is_contiguous; /**< strides are row-major of shapes */
    AddressSpace address_space;
    uint32_t shapes[MAX_TENSOR_DIMS];
    uint64_t extent_elem_cache;
    uint32_t strides[MAX_TENSOR_DIMS];
    uint8_t reserved[36];

    uint64_t numel() const
    {
        uint64_t n = 1;
        for (uint32_t i = 0; i < ndims; i++)
            n *= shapes[i];
        return n;
    }
    uint64_t nbytes() const
    {
        return numel() << simpler_dtype_shift(static_cast<uint32_t>(dtype));
    }
    /** 1 + sum((shape - 1) * stride); 0 for an empty view. */
    uint64_t extent_elem() const
    {
        return extent_elem_cache;
    }
    /** The first element of the view. */
    template <class T = void> T *data() const
    {
        return reinterpret_cast<T *>(static_cast<uintptr_t>(
            buffer.addr + (start_offset << simpler_dtype_shift(static_cast<uint32_t>(dtype)))));
    }

    /** The block of `shapes` elements at `offsets`; ndims entries each. */
    ChipTensor view(const uint32_t view_shapes[], const uint32_t view_offsets[],
                    bool new_manual_dep = false) const;
    ChipTensor view(std::initializer_list<uint32_t> view_shapes,
                    std::initializer_list<uint32_t> view_offsets,
                    bool new_manual_dep = false) const;
    /** Two dimensions exchanged. */
    ChipTensor transpose(uint32_t x, uint32_t y, bool new_manual_dep = false) const;
    /** Dimensions in another order, a permutation of 0 .. ndims-1. */
    ChipTensor permute(const uint32_t order[], bool new_manual_dep = false) const;
    ChipTensor permute(std::initializer_list<uint32_t> order, bool new_manual_dep = false) const;
    /** Every `step`th index of [start, end) of one dimension. */
    ChipTensor slice(uint32_t dim, uint32_t start, uint32_t end, uint32_t step = 1,
                     bool new_manual_dep = false) const;
    /** The same elements in another shape; the tensor must be contiguous. */
    ChipTensor reshape(const uint32_t new_shapes[], uint32_t new_ndims,
                       bool new_manual_dep = false) const;
    ChipTensor reshape(std::initializer_list<uint32_t> new_shapes,
                       bool new_manual_dep = false) const;
};

namespace detail
{
static_assert(sizeof(ChipTensor) == sizeof(simpler_tensor) && alignof(ChipTensor) == 64, "layout");
#define SIMPLER_SAME_OFFSET(cpp, c) \
    static_assert(offsetof(ChipTensor, cpp) == offsetof(simpler_tensor, c), #cpp)
SIMPLER_SAME_OFFSET(buffer.addr, addr);
SIMPLER_SAME_OFFSET(buffer.size, buffer_bytes);
SIMPLER_SAME_OFFSET(owner_task_id, owner);
SIMPLER_SAME_OFFSET(start_offset, start_offset);
SIMPLER_SAME_OFFSET(version, version);
SIMPLER_SAME_OFFSET(ndims, ndims);
SIMPLER_SAME_OFFSET(dtype, dtype);
SIMPLER_SAME_OFFSET(manual_dep, manual_dep);
SIMPLER_SAME_OFFSET(is_contiguous, is_contiguous);
SIMPLER_SAME_OFFSET(address_space, address_space);
SIMPLER_SAME_OFFSET(shapes, shape);
SIMPLER_SAME_OFFSET(extent_elem_cache, extent);
SIMPLER_SAME_OFFSET(strides, stride);
#undef SIMPLER_SAME_OFFSET
static_assert(std::is_trivially_copyable_v<ChipTensor>, "kernels and dumps copy it");

inline simpler_tensor to_c(const ChipTensor &tensor)
{
    simpler_tensor c;
    std::memcpy(&c, &tensor, sizeof(c));
    return c;
}

/* One element of nothing: what calls give back when they have failed. */
constexpr ChipTensor no_tensor()
{
    ChipTensor t{};
    t.owner_task_id = SIMPLER_NO_OWNER;
    t.ndims = 1;
    t.is_contiguous = true;
    t.shapes[0] = t.strides[0] = 1;
    t.extent_elem_cache = 1;
    return t;
}
SIMPLER_HIDDEN inline constexpr ChipTensor nothing = no_tensor();

/* The result of one operation of tensor.h. */
inline ChipTensor finish(int rc, const simpler_tensor &c, bool manual_dep, const char *what,
                         const ChipTensor *from)
{
    if (rc != 0) {
        /* After a fatal error tensors are no_tensor: what follows is no new mistake. */
        if (orch() == nullptr || !rt_is_fatal())
            fault("%s: %s (the tensor has the rank %u: %u, %u, %u, %u, %u%s)", what,
                  rc == SIMPLER_EOVERFLOW ? "a size or a stride does not fit"
                                          : "the arguments do not fit the tensor",
                  from->ndims, from->shapes[0], from->shapes[1], from->shapes[2], from->shapes[3],
                  from->shapes[4], from->is_contiguous ? "" : ", not contiguous");
        return no_tensor();
    }
    ChipTensor t;
    std::memcpy(&t, &c, sizeof(t));
    t.manual_dep = manual_dep;
    return t;
}

/* The list as an array of the tensor's rank; false when it is shorter or longer. */
inline bool has_rank(const ChipTensor &tensor, std::initializer_list<uint32_t> list,
                     const char *what)
{
    if (list.size() == tensor.ndims)
        return true;
    fault("%s: numbers: %zu, dimensions of the tensor: %u", what, list.size(), tensor.ndims);
    return false;
}
} // namespace detail

inline ChipTensor ChipTensor::view(const uint32_t view_shapes[], const uint32_t view_offsets[],
                                   bool new_manual_dep) const
{
    simpler_tensor c = detail::to_c(*this);
    int rc = SIMPLER_CALL(tensor_view)(&c, view_shapes, view_offsets, &c);
    return detail::finish(rc, c, new_manual_dep, "view", this);
}

inline ChipTensor ChipTensor::view(std::initializer_list<uint32_t> view_shapes,
                                   std::initializer_list<uint32_t> view_offsets,
                                   bool new_manual_dep) const
{
    if (!detail::has_rank(*this, view_shapes, "view") ||
        !detail::has_rank(*this, view_offsets, "view"))
        return detail::no_tensor();
    return view(view_shapes.begin(), view_offsets.begin(), new_manual_dep);
}

inline ChipTensor ChipTensor::transpose(uint32_t x, uint32_t y, bool new_manual_dep) const
{
    simpler_tensor c = detail::to_c(*this);
    int rc = SIMPLER_CALL(tensor_transpose)(&c, x, y, &c);
    return detail::finish(rc, c, new_manual_dep, "transpose", this);
}

inline ChipTensor ChipTensor::permute(const uint32_t order[], bool new_manual_dep) const
{
    simpler_tensor c = detail::to_c(*this);
    int rc = SIMPLER_CALL(tensor_permute)(&c, order, &c);
    return detail::finish(rc, c, new_manual_dep, "permute", this);
}

inline ChipTensor ChipTensor::permute(std::initializer_list<uint32_t> order,
                                      bool new_manual_dep) const
{
    if (!detail::has_rank(*this, order, "permute"))
        return detail::no_tensor();
    return permute(order.begin(), new_manual_dep);
}

inline ChipTensor ChipTensor::slice(uint32_t dim, uint32_t start, uint32_t end, uint32_t step,
                                    bool new_manual_dep) const
{
    simpler_tensor c = detail::to_c(*this);
    int rc = SIMPLER_CALL(tensor_slice)(&c, dim, start, end, step, &c);
    return detail::finish(rc, c, new_manual_dep, "slice", this);
}

inline ChipTensor ChipTensor::reshape(const uint32_t new_shapes[], uint32_t new_ndims,
                                      bool new_manual_dep) const
{
    simpler_tensor c = detail::to_c(*this);
    int rc = SIMPLER_CALL(tensor_reshape)(&c, new_shapes, new_ndims, &c);
    return detail::finish(rc, c, new_manual_dep, "reshape", this);
}

inline ChipTensor ChipTensor::reshape(std::initializer_list<uint32_t> new_shapes,
                                      bool new_manual_dep) const
{
    return reshape(new_shapes.begin(), static_cast<uint32_t>(new_shapes.size()), new_manual_dep);
}

namespace detail
{
inline ChipTensor finish_external(int rc, const simpler_tensor &made, bool manual_dep,
                                  int32_t version, AddressSpace space, const char *what,
                                  uint32_t ndims, DataType dtype)
{
    if (rc != 0) {
        fault("%s: %s (ndims %u, dtype %u)", what,
              rc == SIMPLER_EOVERFLOW ? "a size or a stride does not fit"
                                      : "1 to 5 dimensions, a known dtype, strides above 0",
              ndims, static_cast<unsigned>(dtype));
        return no_tensor();
    }
    ChipTensor t;
    std::memcpy(&t, &made, sizeof(t));
    t.manual_dep = manual_dep;
    t.version = version;
    t.address_space = space;
    return t;
}
} // namespace detail

/** A row-major tensor over memory of the caller. */
inline ChipTensor make_tensor_external(void *addr, const uint32_t shapes[], uint32_t ndims,
                                       DataType dtype = DataType::FLOAT32, bool manual_dep = false,
                                       int32_t version = 0, AddressSpace space = AddressSpace::HOST)
{
    simpler_tensor c;
    int rc = SIMPLER_CALL(tensor_init)(&c, addr, shapes, ndims, static_cast<uint32_t>(dtype));
    return detail::finish_external(rc, c, manual_dep, version, space, "make_tensor_external", ndims,
                                   dtype);
}

/** The same with element strides; the buffer is as long as the view reaches. */
inline ChipTensor make_tensor_strided(void *addr, const uint32_t shapes[], const uint32_t strides[],
                                      uint32_t ndims, DataType dtype = DataType::FLOAT32,
                                      bool manual_dep = false, int32_t version = 0,
                                      AddressSpace space = AddressSpace::HOST)
{
    simpler_tensor c;
    int rc = SIMPLER_CALL(tensor_init_strided)(&c, addr, shapes, strides, ndims,
                                               static_cast<uint32_t>(dtype));
    return detail::finish_external(rc, c, manual_dep, version, space, "make_tensor_strided", ndims,
                                   dtype);
}

/**
 * A buffer that the runtime is to allocate: row-major.  It must stay alive
 * until the submit returns and may serve many.
 */
class alignas(64) TensorCreateInfo
{
  public:
    TensorCreateInfo(const uint32_t shapes[], uint32_t ndims, DataType dtype = DataType::FLOAT32,
                     bool manual_dep = false)
        : c_()
    {
        int rc = SIMPLER_CALL(create_info_init)(&c_, shapes, ndims, static_cast<uint32_t>(dtype));
        if (rc != 0)
            detail::fault("TensorCreateInfo: %s (ndims %u, dtype %u)",
                          rc == SIMPLER_EOVERFLOW ? "the bytes do not fit 64 bits"
                                                  : "1 to 5 dimensions and a known dtype",
                          ndims, static_cast<unsigned>(dtype));
        c_.manual_dep = manual_dep;
    }
    TensorCreateInfo(std::initializer_list<uint32_t> shapes, DataType dtype = DataType::FLOAT32,
                     bool manual_dep = false)
        : TensorCreateInfo(shapes.begin(), static_cast<uint32_t>(shapes.size()), dtype, manual_dep)
    {
    }

    /** What every element is before the task runs: one element's bits, low. */
    template <class T> void set_initial_value(T value)
    {
        const uint64_t bits = to_u64(value);
        SIMPLER_CALL(create_info_set_initial_value)(&c_, &bits);
    }
    uint64_t buffer_size_bytes() const
    {
        uint64_t n = uint64_t{1} << simpler_dtype_shift(c_.dtype);
        for (uint32_t i = 0; i < c_.ndims; i++)
            n *= c_.shape[i];
        return n;
    }
    const simpler_create_info *c() const
    {
        return &c_;
    }

  private:
    simpler_create_info c_;
};
static_assert(sizeof(TensorCreateInfo) == sizeof(simpler_create_info),
              "an array of one is the other");
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
