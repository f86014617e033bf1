import java.util.ArrayDeque;
import java.util.Arrays;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * Whether HotSpot's compilers take a method as regards its monitors (GenerateOopMap in HotSpot): no
 * instruction that may throw is outside of all handlers for any exception while a monitor is held.
 */
final class Monitors {
    private static final int UNKNOWN = -1;

    private final MethodNode method;
    private final InsnList code;
    private final int[] held; // before each instruction
    private final ArrayDeque<Integer> left = new ArrayDeque<>();
    private boolean balanced = true;

    private Monitors(MethodNode method) {
        this.method = method;
        code = method.instructions;
        held = new int[code.size()];
        Arrays.fill(held, UNKNOWN);
    }

    static boolean areBalanced(MethodNode method) {
        for (AbstractInsnNode one : method.instructions) {
            if (one.getOpcode() == Opcodes.MONITORENTER) return new Monitors(method).follow();
        }
        return true;
    }

    private boolean follow() {
        flow(0, 0);
        while (balanced && !left.isEmpty()) {
            int at = left.pop();
            AbstractInsnNode one = code.get(at);
            if (mayThrow(one, held[at])) throwAt(at);
            int after = held[at];
            if (one.getOpcode() == Opcodes.MONITORENTER) after++;
            if (one.getOpcode() == Opcodes.MONITOREXIT) after--;
            goOn(one, at, after);
        }
        return balanced;
    }

    private void flow(int at, int count) {
        if (count < 0 || at >= held.length || held[at] != UNKNOWN && held[at] != count) {
            balanced = false;
        } else if (held[at] == UNKNOWN) {
            held[at] = count;
            left.push(at);
        }
    }

    private void goOn(AbstractInsnNode one, int at, int count) {
        int opcode = one.getOpcode();
        if (one instanceof JumpInsnNode jump) {
            flow(code.indexOf(jump.label), count);
        } else if (one instanceof TableSwitchInsnNode cases) {
            flow(code.indexOf(cases.dflt), count);
            for (LabelNode label : cases.labels) flow(code.indexOf(label), count);
        } else if (one instanceof LookupSwitchInsnNode cases) {
            flow(code.indexOf(cases.dflt), count);
            for (LabelNode label : cases.labels) flow(code.indexOf(label), count);
        }
        boolean ends = opcode == Opcodes.GOTO || opcode == Opcodes.ATHROW || opcode == Opcodes.RET
                || opcode >= Opcodes.TABLESWITCH && opcode <= Opcodes.RETURN;
        if (!ends) flow(at + 1, count);
    }

    private void throwAt(int at) {
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            if (at < code.indexOf(block.start) || at >= code.indexOf(block.end)) continue;
            flow(code.indexOf(block.handler), held[at]);
            if (block.type == null) return;
        }
        if (held[at] > 0) balanced = false;
    }

    private static boolean mayThrow(AbstractInsnNode one, int held) {
        int opcode = one.getOpcode();
        if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) return held > 0;
        return switch (opcode) {
            case Opcodes.LDC, Opcodes.IDIV, Opcodes.LDIV, Opcodes.IREM, Opcodes.LREM,
                    Opcodes.MONITORENTER, Opcodes.MULTIANEWARRAY -> true;
            case Opcodes.MONITOREXIT -> held == 0;
            default -> opcode >= Opcodes.IALOAD && opcode <= Opcodes.SALOAD
                    || opcode >= Opcodes.IASTORE && opcode <= Opcodes.SASTORE
                    || opcode >= Opcodes.GETSTATIC && opcode <= Opcodes.INSTANCEOF;
        };
    }
}
