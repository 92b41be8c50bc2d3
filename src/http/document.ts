import { writeFileSync } from 'node:fs';
import { version } from '../version.js';
import { DOCUMENT_FILE, describeApi } from './explorer.js';

/** The program that the build runs: it writes the API document for `GET /swagger.json`. */
writeFileSync(DOCUMENT_FILE, JSON.stringify(await describeApi(version)));
