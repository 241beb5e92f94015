/** Deletes expired state from the command line. */
package example.cleanup;
