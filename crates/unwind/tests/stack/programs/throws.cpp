// An exception that nobody catches.
#include <stdexcept>
namespace deep {
template <typename T> struct Thrower {
    __attribute__((noipa)) int operator()(T value) { if (value > 0) throw std::runtime_error("no"); return 1; }
};
}
__attribute__((noipa)) int asks(int value) { return deep::Thrower<int>()(value) + 1; }
int main(int count, char **) { return asks(count) + 1; }
