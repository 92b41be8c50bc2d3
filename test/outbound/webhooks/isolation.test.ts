import * as Lab from '@hapi/lab';
import { deliverBesideDead } from './isolated.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('endpoints of webhooks', () => {
  it('get what is theirs, whatever those beside them do', () =>
    deliverBesideDead((deliver) => deliver()));
});
