//@ agentjar
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * An agent with which the JVM refuses to replace one class: at each retransformation it returns what
 * is no class file. Its argument: the name of the class.
 */
public final class Refuser implements ClassFileTransformer {
  private final String refused;

  private Refuser(String refused) {
    this.refused = refused;
  }

  public static void premain(String refused, Instrumentation instrumentation) {
    instrumentation.addTransformer(new Refuser(refused), true);
  }

  @Override
  public byte[] transform(ClassLoader loader, String name, Class<?> replaced,
      ProtectionDomain domain, byte[] bytes) {
    return replaced != null && refused.equals(name) ? new byte[] {1, 2, 3} : null;
  }
}
