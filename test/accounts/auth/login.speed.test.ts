import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { measureInTurn } from '../../harness/alternate.js';
import { createLogins } from './logins.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

describe('login', () => {
  const logins = createLogins();
  const { fail, from } = logins;

  before(() => logins.open());
  beforeEach(() => logins.addAccount());
  after(() => logins.app.stop());

  it('takes as long for an unknown name as for a wrong password', async () => {
    const [known, unknown] = await measureInTurn([logins.ada, logins.nobody], (name, n) =>
      fail(name, from(`192.0.2.${n}`)),
    );
    expect((unknown ?? 0) / (known ?? 0)).to.be.within(0.5, 2);
  });
});
