/** The code of the documents on several databases, apart from the application of the guides. */
package orders;
