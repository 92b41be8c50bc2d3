import { writeFileSync } from 'node:fs';
import { DOCUMENT_FILE, describeApi } from './swagger.js';
import { version } from './version.js';

/** The program that the build runs: it writes the API document for `GET /swagger.json`. */
writeFileSync(DOCUMENT_FILE, JSON.stringify(await describeApi(version)));
