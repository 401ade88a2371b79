// Each kind of rule that call frame information has. `caller` needs its rbp to find `main`, and
// `odd` loses rbp in a way that only its rules tell.
#define ODD(body) __asm__(".globl odd\n.type odd, @function\nodd:\n.cfi_startproc\n" body "movl $0, 0\nret\n.cfi_endproc\n.size odd, .-odd\n")
__asm__(".globl caller\n.type caller, @function\ncaller:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nmov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "sub $32, %rsp\ncall odd\nleave\n.cfi_def_cfa %rsp, 8\nret\n.cfi_endproc\n.size caller, .-caller\n");
#if RULE == 0 // in another register
ODD("mov %rbp, %rax\n.cfi_register %rbp, %rax\nxor %ebp, %ebp\n");
#elif RULE == 1 // the frame address plus an offset
ODD("xor %ebp, %ebp\n.cfi_val_offset %rbp, 32\n");
#elif RULE == 2 // the value of an expression: the return address is popped, CFA = rsp
ODD("pop %r11\n.cfi_def_cfa_offset 0\n.cfi_register %rip, %r11\nxor %ebp, %ebp\n"
    ".cfi_escape 0x16, 6, 2, 0x77, 32\n"); // DW_CFA_val_expression rbp: DW_OP_breg7 32
#elif RULE == 3 // where an expression says, and the frame address by an expression
ODD("push %rbp\nxor %ebp, %ebp\n"
    ".cfi_escape 0x0f, 2, 0x77, 16\n"       // DW_CFA_def_cfa_expression: DW_OP_breg7 16
    ".cfi_escape 0x10, 6, 2, 0x77, 0\n");   // DW_CFA_expression rbp: DW_OP_breg7 0
#elif RULE == 4 // an expression that starts from the frame address and reads memory
ODD("push %rbp\n.cfi_def_cfa_offset 16\nxor %ebp, %ebp\n"
    ".cfi_escape 0x16, 6, 4, 0x40, 0x1c, 0x06, 0x96\n"); // lit16, minus, deref, nop
#elif RULE == 5 // remembered and restored
ODD("push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n.cfi_remember_state\nxor %ebp, %ebp\n"
    "pop %rbp\n.cfi_def_cfa_offset 8\n.cfi_restore %rbp\njmp 1f\n1: push %rbp\n.cfi_restore_state\nxor %ebp, %ebp\n");
#else // the return address by a value that an expression reads
ODD("xor %eax, %eax\n.cfi_escape 0x16, 16, 3, 0x77, 0, 0x06\n"); // breg7 0, deref
#endif
int caller(void);
int main(void) { return caller() + 1; }
