import { format, inspect } from 'node:util';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createLog } from '../../src/kernel/log.js';
import { Secret } from '../../src/secrets/secret.js';

export const lab = Lab.script();
const { describe, it } = lab;

const VALUE = 'c4nary';
const secret = (): Secret => new Secret(Buffer.from(VALUE));

describe('a Secret', () => {
  for (const [how, shown] of [
    ['as text', String(secret())],
    ['within a text', `${secret()}`],
    ['as JSON', JSON.parse(JSON.stringify({ a: secret() })).a],
    ['to console.log', format('%s', secret())],
    ['looked into', inspect(secret(), { showHidden: true, depth: 9 })],
  ] as const) {
    it(`prints as [secret]: ${how}`, () => {
      expect(shown).to.equal('[secret]');
    });
  }

  it('is in no line of the log, however deep, nor on an error', () => {
    const lines: string[] = [];
    const log = createLog('trace', { to: { write: (line) => lines.push(line) } });
    log.warn({ a: { b: [secret()] }, err: Object.assign(new Error('x'), { is: secret() }) }, 'y');
    expect(lines.length).to.equal(1);
    expect(JSON.parse(lines[0] ?? '').a).to.equal({ b: ['[secret]'] });
    expect(lines.join()).to.not.contain(VALUE);
  });

  it('gives its value once, and nothing of it is left, even where its use fails', () => {
    const bytes = [Buffer.from(VALUE), Buffer.from(VALUE)] as const;
    expect(new Secret(bytes[0]).take((value) => value.toString())).to.equal(VALUE);
    const failing = () =>
      new Secret(bytes[1]).take(() => {
        throw new Error('It failed');
      });
    expect(failing).to.throw('It failed');
    for (const each of bytes) expect(each).to.equal(Buffer.alloc(VALUE.length));
  });

  it('holds nothing that can be copied or listed', () => {
    const one = secret();
    expect([Object.keys(one), Reflect.ownKeys(one), { ...one }]).to.equal([[], [], {}]);
    expect(JSON.stringify(structuredClone(one))).to.equal('{}');
  });
});
