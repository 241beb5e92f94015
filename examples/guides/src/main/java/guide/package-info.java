/** The code of the guides in docs, run together by tests. */
package guide;
