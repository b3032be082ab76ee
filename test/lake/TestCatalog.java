import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * A REST catalog on the loopback interface. Prints its port, and ends with its standard input. Arguments: a folder, and properties such as
 * warehouse=s3://bucket/folder. By default, the tables are in the folder.
 */
public class TestCatalog {
  public static void main(String[] args) throws Exception {
    String folder = args[0];
    Map<String, String> properties =
        new HashMap<>(
            Map.of(
                "uri", "jdbc:sqlite:" + folder + "/catalog.db",
                "warehouse", folder + "/warehouse",
                "jdbc.schema-version", "V1",
                "io-impl", "org.apache.iceberg.TestTables$LocalFileIO"));
    for (int i = 1; i < args.length; i++) {
      String[] property = args[i].split("=", 2);
      properties.put(property[0], property[1]);
    }
    JdbcCatalog catalog = new JdbcCatalog();
    catalog.initialize("test", properties);
    Server server = new Server(new InetSocketAddress("127.0.0.1", 0));
    ServletContextHandler context = new ServletContextHandler();
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    server.setHandler(context);
    server.start();
    System.out.println(((ServerConnector) server.getConnectors()[0]).getLocalPort());
    while (System.in.read() != -1) {}
    System.exit(0);
  }
}
