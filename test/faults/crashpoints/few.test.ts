import * as Lab from '@hapi/lab';
import { families } from './families.js';

export const lab = Lab.script();

for (const family of families) family(lab, 'few');
