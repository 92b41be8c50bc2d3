import { start } from './child.js';
import { prepare } from './prepare.js';

await start(prepare);
