import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createSecretCache } from '../../../src/outbound/webhooks/secretcache.js';
import { Secret } from '../../../src/secrets/secret.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('openedTogether()', () => {
  let asked: string[];
  let opened: ReturnType<typeof createSecretCache>;
  beforeEach(() => {
    asked = [];
    opened = createSecretCache((id, sealed) => {
      asked.push(`${id} ${sealed}`);
      return new Secret(Buffer.from(`of ${id}`));
    });
  });

  const open = (id: string, sealed: string): string =>
    opened.open(id, sealed).take((bytes) => bytes.toString());
  /** A message of a webhook on its way, and what ends it. */
  const sent = (id: string): (() => Promise<void>) => {
    let end = (): void => undefined;
    const way = opened.during(id, () => new Promise<void>((resolve) => (end = resolve)));
    return () => {
      end();
      return way;
    };
  };

  it('opens once what all that are on their way need, each for its webhook', async () => {
    const [first, second, other] = [sent('a'), sent('a'), sent('b')];
    expect([open('a', 's'), open('a', 's'), open('b', 's')]).to.equal(['of a', 'of a', 'of b']);
    await first();
    expect([open('a', 's'), open('a', 'anew')]).to.equal(['of a', 'of a']);
    await Promise.all([second(), other()]);
    expect(asked).to.equal(['a s', 'b s', 'a anew']);
  });

  it('forgets what is a webhook’s with the last of its own', async () => {
    const other = sent('b');
    await opened.during('a', async () => open('a', 's'));
    await expect(opened.during('a', () => Promise.reject(new Error('broke')))).to.reject('broke');
    await opened.during('a', async () => open('a', 's'));
    await other();
    expect(asked).to.equal(['a s', 'a s']);
  });

  it('keeps nothing where no message is on its way', () => {
    expect([open('a', 's'), open('a', 's')]).to.equal(['of a', 'of a']);
    expect(asked).to.equal(['a s', 'a s']);
  });
});
