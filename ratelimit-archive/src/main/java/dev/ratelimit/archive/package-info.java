/**
 * Archives of the audit trail as Parquet files, each with a manifest. {@link dev.ratelimit.archive.ParquetArchive} reads them again.
 */
@NullMarked
package dev.ratelimit.archive;

import org.jspecify.annotations.NullMarked;
