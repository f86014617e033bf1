import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Inserts, updates, selects and joins in an H2 database in memory: args[0] orders. Prints the
 * answers.
 */
final class H2Work {
  private static final int CUSTOMERS = 500;

  private final Connection connection;

  private H2Work(Connection connection) {
    this.connection = connection;
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void create() throws SQLException {
    execute("CREATE TABLE customer(id INT PRIMARY KEY, name VARCHAR(40), region INT)");
    execute("CREATE TABLE purchase(id INT PRIMARY KEY, customer INT, amount DECIMAL(10, 2), "
        + "product VARCHAR(40))");
    execute("CREATE INDEX by_customer ON purchase(customer)");
  }

  private void insertCustomers() throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO customer VALUES(?, ?, ?)")) {
      for (int i = 0; i < CUSTOMERS; i++) {
        insert.setInt(1, i);
        insert.setString(2, "customer " + i * 7919 % CUSTOMERS);
        insert.setInt(3, i % 12);
        insert.executeUpdate();
      }
    }
  }

  private void insertOrders(int orders) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO purchase VALUES(?, ?, ?, ?)")) {
      for (int i = 0; i < orders; i++) {
        insert.setInt(1, i);
        insert.setInt(2, (int) (i * 7919L % CUSTOMERS));
        insert.setBigDecimal(3, java.math.BigDecimal.valueOf(i % 10_007, 2));
        insert.setString(4, "product " + i % 53);
        insert.executeUpdate();
      }
    }
  }

  private long select(int orders) throws SQLException {
    long sum = 0;
    try (PreparedStatement select =
        connection.prepareStatement("SELECT customer, product FROM purchase WHERE id = ?")) {
      for (int i = 0; i < orders; i += 2) {
        select.setInt(1, i);
        try (ResultSet row = select.executeQuery()) {
          if (row.next()) sum += row.getInt(1) + row.getString(2).length();
        }
      }
    }
    return sum;
  }

  private void print(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      int columns = rows.getMetaData().getColumnCount();
      while (rows.next()) {
        StringBuilder line = new StringBuilder();
        for (int i = 1; i <= columns; i++) line.append(rows.getString(i)).append(' ');
        System.out.println(line);
      }
    }
  }

  public static void main(String[] args) throws SQLException {
    int orders = Integer.parseInt(args[0]);
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:work")) {
      H2Work work = new H2Work(connection);
      work.create();
      work.insertCustomers();
      work.insertOrders(orders);
      System.out.println(work.select(orders));
      work.print("SELECT region, COUNT(*), SUM(amount) FROM customer c JOIN purchase p ON "
          + "c.id = p.customer GROUP BY region ORDER BY region");
      work.execute("UPDATE purchase SET amount = amount + 1 WHERE MOD(id, 3) = 0");
      work.execute("DELETE FROM purchase WHERE MOD(id, 7) = 0");
      work.print("SELECT product, COUNT(*), MAX(amount) FROM purchase WHERE product LIKE '%7%' "
          + "GROUP BY product ORDER BY product");
      work.print("SELECT COUNT(*) FROM purchase a JOIN purchase b ON a.customer = b.customer "
          + "WHERE a.id < 2000 AND b.id < 20000 AND a.amount < b.amount");
    }
  }
}
