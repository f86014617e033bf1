import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.BasicValue;
import org.objectweb.asm.tree.analysis.Frame;
import org.objectweb.asm.util.CheckClassAdapter;

/**
 * Checks a class file with ASM: its structure (CheckClassAdapter), the types on the stack and in
 * local variables (Analyzer), that these agree with the stack map frames, and the monitors.
 */
final class AsmCheck {
    private final Hierarchy hierarchy;

    AsmCheck(Map<String, Path> files) {
        hierarchy = new Hierarchy(files);
    }

    /** What is wrong with the class, or null. Throws Hierarchy.Missing if it cannot be checked. */
    String failureOf(byte[] bytes) {
        ClassNode node = new ClassNode();
        try {
            new ClassReader(Hierarchy.readable(bytes))
                    .accept(new CheckClassAdapter(node, false), ClassReader.EXPAND_FRAMES);
            for (MethodNode method : node.methods) {
                String failure = failureOf(node, method);
                if (failure != null) return method.name + method.desc + ": " + failure;
            }
            return null;
        } catch (Hierarchy.Missing e) {
            throw e;
        } catch (RuntimeException e) {
            return e.toString();
        }
    }

    /** The methods that HotSpot does not compile because of their monitors. */
    static Set<String> unbalanced(byte[] bytes) {
        ClassNode node = new ClassNode();
        new ClassReader(Hierarchy.readable(bytes)).accept(node, ClassReader.SKIP_DEBUG);
        Set<String> found = new TreeSet<>();
        for (MethodNode method : node.methods) {
            if (!Monitors.areBalanced(method)) found.add(method.name + method.desc);
        }
        return found;
    }

    private String failureOf(ClassNode node, MethodNode method) {
        try {
            Frame<BasicValue>[] found = new Analyzer<>(hierarchy).analyze(node.name, method);
            for (int i = 0; i < found.length; i++) {
                AbstractInsnNode instruction = method.instructions.get(i);
                if (found[i] == null || !(instruction instanceof FrameNode frame)) continue;
                String failure = failureOf(frame, found[i]);
                if (failure != null) return "frame at " + i + ": " + failure;
            }
            return null;
        } catch (AnalyzerException e) {
            if (e.getCause() instanceof Hierarchy.Missing missing) throw missing;
            return e.getMessage();
        }
    }

    private String failureOf(FrameNode frame, Frame<BasicValue> found) {
        int slot = 0;
        for (Object type : frame.local) {
            if (!fits(type, found.getLocal(slot))) {
                return "local variable " + slot + " is " + found.getLocal(slot) + ", not " + type;
            }
            slot += type == Opcodes.LONG || type == Opcodes.DOUBLE ? 2 : 1;
        }
        List<Object> stack = frame.stack;
        if (stack.size() != found.getStackSize()) return "the stack has another size";
        for (int i = 0; i < stack.size(); i++) {
            if (!fits(stack.get(i), found.getStack(i))) {
                return "stack entry " + i + " is " + found.getStack(i) + ", not " + stack.get(i);
            }
        }
        return null;
    }

    private boolean fits(Object type, BasicValue value) {
        if (type == Opcodes.TOP) return true;
        if (value.getType() == null) return false;
        if (type == Opcodes.INTEGER) return value.equals(BasicValue.INT_VALUE);
        if (type == Opcodes.FLOAT) return value.equals(BasicValue.FLOAT_VALUE);
        if (type == Opcodes.LONG) return value.equals(BasicValue.LONG_VALUE);
        if (type == Opcodes.DOUBLE) return value.equals(BasicValue.DOUBLE_VALUE);
        if (!value.isReference()) return false;
        boolean isNull = value.getType().getInternalName().equals("null");
        if (type == Opcodes.NULL) return isNull;
        // Of what is not yet initialised ASM's Analyzer knows the class only.
        if (!(type instanceof String name) || isNull) return true;
        return hierarchy.isAssignableFrom(Type.getObjectType(name), value.getType());
    }
}
