/** An application whose failed logins are limited. */
package example.login;
