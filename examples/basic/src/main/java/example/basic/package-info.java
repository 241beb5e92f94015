/** The smallest limited application. */
package example.basic;
