import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printTables } from '../src/table-types.ts';
import { prepareTestServer } from '@troupe/testing/database/server';

/** Writes src/tables.gen.ts from the migrations, through a server that lives only for this. */
const server = await prepareTestServer();
try {
  await writeFile(join(import.meta.dirname, '../src/tables.gen.ts'), await printTables(server.url));
} finally {
  await server.stop();
}
