import { writeFileSync } from 'node:fs';
import { version } from '../version.js';
import { DOCUMENT_FILE, describeApi } from './explorer.js';

writeFileSync(DOCUMENT_FILE, JSON.stringify(await describeApi(version)));
