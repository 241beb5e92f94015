/** An application with a JPA repository, whose limits are in the same database. */
package example.jpa;
