import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.analysis.SimpleVerifier;

/** ASM's verifier, with superclasses read from class files: no class is loaded. */
final class Hierarchy extends SimpleVerifier {
    /** A class that is needed is in none of the sources. */
    static final class Missing extends RuntimeException {
        Missing(String name) {
            super(name.replace('/', '.'), null, false, false);
        }
    }

    private record Parent(String name, boolean isInterface) {}

    private static final int NEWEST_OF_ASM = 64;
    private final Map<String, Path> files;
    private final Map<String, Parent> parents = new HashMap<>();

    Hierarchy(Map<String, Path> files) {
        super(Opcodes.ASM9, null, null, null, false);
        this.files = files;
    }

    /** Later versions have nothing in code that the version given to ASM has not. */
    static byte[] readable(byte[] bytes) {
        if ((bytes[7] & 0xff) <= NEWEST_OF_ASM) return bytes;
        byte[] lowered = bytes.clone();
        lowered[7] = NEWEST_OF_ASM;
        return lowered;
    }

    private Parent parentOf(Type type) {
        if (type.getSort() == Type.ARRAY) return new Parent("java/lang/Object", false);
        return parents.computeIfAbsent(type.getInternalName(), name -> {
            Path file = files.get(name);
            if (file == null) throw new Missing(name);
            try {
                ClassReader reader = new ClassReader(readable(Files.readAllBytes(file)));
                boolean isInterface = (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0;
                return new Parent(reader.getSuperName(), isInterface);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    @Override
    protected boolean isInterface(Type type) {
        return parentOf(type).isInterface();
    }

    @Override
    protected Type getSuperClass(Type type) {
        String name = parentOf(type).name();
        return name == null ? null : Type.getObjectType(name);
    }

    /** As the JVM's verifier: any object may be assigned to an interface. */
    @Override
    protected boolean isAssignableFrom(Type to, Type from) {
        if (to.equals(from) || to.getInternalName().equals("java/lang/Object")) return true;
        if (to.getSort() == Type.ARRAY) {
            return from.getSort() == Type.ARRAY && areElementsAssignable(to, from);
        }
        if (to.getSort() != Type.OBJECT || from.getSort() != Type.OBJECT) return false;
        if (isInterface(to)) return true;
        for (Type type = from; type != null; type = getSuperClass(type)) {
            if (type.equals(to)) return true;
        }
        return false;
    }

    private boolean areElementsAssignable(Type to, Type from) {
        Type element = Type.getType(to.getDescriptor().substring(1));
        Type given = Type.getType(from.getDescriptor().substring(1));
        if (element.getSort() < Type.ARRAY || given.getSort() < Type.ARRAY) {
            return element.equals(given);
        }
        return isAssignableFrom(element, given);
    }
}
