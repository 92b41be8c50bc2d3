import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { boundedLookup } from '../../src/kernel/lookup.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Names are answered when the test says so. */
const openResolver = () => {
  const asked: string[] = [];
  const open = new Map<
    string,
    { resolve(addresses: string[]): void; reject(error: Error): void }
  >();
  const lookup = boundedLookup((host) => {
    asked.push(host);
    return new Promise((resolve, reject) => open.set(host, { resolve, reject }));
  });
  const answer = (host: string): void => open.get(host)?.resolve(['192.0.2.1']);
  const fail = (host: string): void => open.get(host)?.reject(new Error(`${host} is not known`));
  return { asked, lookup, answer, fail };
};

/** A name that has been answered before. */
const meet = async ({ lookup, answer }: ReturnType<typeof openResolver>, host: string) => {
  const met = lookup(host);
  answer(host);
  await met;
};

describe('boundedLookup', () => {
  it('asks for the same name once at a time, and anew the next time', async () => {
    const resolver = openResolver();
    const both = [resolver.lookup('a.example'), resolver.lookup('a.example')];
    resolver.answer('a.example');
    expect(await Promise.all(both)).to.equal([['192.0.2.1'], ['192.0.2.1']]);
    await meet(resolver, 'a.example');
    expect(resolver.asked).to.equal(['a.example', 'a.example']);
  });

  it('lets names that nobody answers for keep none waiting that was answered before', async () => {
    const resolver = openResolver();
    await meet(resolver, 'good.example');
    const dead = ['1.invalid', '2.invalid', '3.invalid'].map(resolver.lookup);
    expect(resolver.asked).to.equal(['good.example', '1.invalid', '2.invalid']);
    await meet(resolver, 'good.example');
    expect(resolver.asked.at(-1)).to.equal('good.example');

    resolver.fail('1.invalid');
    await expect(dead[0] ?? Promise.resolve()).to.reject('1.invalid is not known');
    expect(resolver.asked.at(-1)).to.equal('3.invalid');
  });

  it('trusts a name no longer that was not answered the last time', async () => {
    const resolver = openResolver();
    await meet(resolver, 'good.example');
    const failing = resolver.lookup('good.example');
    resolver.fail('good.example');
    await expect(failing).to.reject('good.example is not known');
    for (const host of ['1.invalid', '2.invalid', 'good.example']) void resolver.lookup(host);
    expect(resolver.asked.slice(2)).to.equal(['1.invalid', '2.invalid']);
  });

  it('leaves one of the four threads to files and passwords', async () => {
    const resolver = openResolver();
    for (const host of ['a.example', 'b.example']) await meet(resolver, host);
    for (const host of ['1.invalid', '2.invalid', 'a.example', 'b.example']) {
      void resolver.lookup(host);
    }
    expect(resolver.asked.slice(2)).to.equal(['1.invalid', '2.invalid', 'a.example']);
  });
});
