import { writeFileSync } from 'node:fs';
import { version } from '../version.js';
import { DOCUMENT_FILE, describeApi } from './explorer.js';

/** Build entry point: writes the API document for `GET /swagger.json`. */
writeFileSync(DOCUMENT_FILE, JSON.stringify(await describeApi(version)));
