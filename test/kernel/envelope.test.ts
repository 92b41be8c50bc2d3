import { randomBytes } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { EnvelopeError, seal, unseal } from '../../src/kernel/envelope.js';

export const lab = Lab.script();
const { describe, it } = lab;

const master = randomBytes(32);
const value = Buffer.from('It’s a Secret to Everybody');
const sealed = seal(master, 'hooks:1:secret', value);

describe('envelope', () => {
  it('opens with the same key and binding', () => {
    expect(unseal(master, 'hooks:1:secret', sealed)).to.equal(value);
    expect(unseal(master, 'a', seal(master, 'a', Buffer.alloc(0)))).to.equal(Buffer.alloc(0));
  });

  it('shows nothing of the value, and seals the same value anew each time', () => {
    expect(Buffer.from(sealed).includes(value)).to.be.false();
    expect(seal(master, 'hooks:1:secret', value)).to.not.equal(sealed);
  });

  it('does not open with another key, nor in another row', () => {
    expect(() => unseal(randomBytes(32), 'hooks:1:secret', sealed)).to.throw(EnvelopeError);
    expect(() => unseal(master, 'hooks:2:secret', sealed)).to.throw(EnvelopeError);
  });

  it('does not open when any byte was changed', () => {
    const [form = '', ...parts] = sealed.split('.');
    for (const at of parts.keys()) {
      const bytes = Buffer.from(parts[at] ?? '', 'base64url');
      for (let index = 0; index < bytes.length; index++) {
        const changed = Buffer.from(bytes);
        changed[index] = (changed[index] ?? 0) ^ 1;
        const forged = parts.with(at, changed.toString('base64url'));
        expect(() => unseal(master, 'hooks:1:secret', [form, ...forged].join('.'))).to.throw(
          EnvelopeError,
        );
      }
    }
  });

  it('refuses what is no sealed value', () => {
    for (const text of ['', 'e1', 'e1..', 'e2.a.b', 'e1.AAAA.AAAA', 'plain text']) {
      expect(() => unseal(master, 'x', text), text).to.throw(EnvelopeError);
    }
  });
});
