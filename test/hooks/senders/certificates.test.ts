import { execFileSync } from 'node:child_process';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createCertificates } from '../../../src/hooks/senders/certificates.js';
import { frozenClock } from '../../harness/app.js';

export const lab = Lab.script();
const { describe, it, before } = lab;

const GOOD = 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0.pem';
const DAY_MS = 24 * 3600 * 1000;

let pem: string;
before(() => {
  const made = execFileSync(
    'openssl',
    'req -x509 -newkey rsa:2048 -nodes -keyout - -days 2 -subj /CN=sns.amazonaws.com'.split(' '),
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  pem = made.slice(made.indexOf('-----BEGIN CERTIFICATE'));
});

/** Certificates of a server that has one, and replies when it is told to. */
const open = () => {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  let mode: 'at once' | 'later' | 'broken' = 'at once';
  const request = async ({ url }: { url: string }) => {
    asked.push(url);
    if (mode === 'broken') throw new Error('not expected');
    if (mode === 'later') await new Promise<void>((resolve) => waiting.push(resolve));
    return { url, status: url === GOOD ? 200 : 404, headers: {}, body: Buffer.from(pem) };
  };
  const clock = frozenClock();
  return {
    ...{ asked, clock, certificates: createCertificates({ http: { request }, clock }) },
    be: (next: typeof mode) => {
      mode = next;
    },
    reply: () => {
      for (const each of waiting.splice(0)) each();
    },
  };
};

describe('the certificates of SNS', () => {
  it('are read once by requests that come together, and again after a day', async () => {
    const { certificates, asked, clock } = open();
    const all = await Promise.all([certificates.at(GOOD), certificates.at(GOOD)]);
    expect(all).to.equal([pem, pem]);
    clock.forward(DAY_MS - 1);
    await certificates.at(GOOD);
    expect(asked).to.have.length(1);
    clock.forward(1);
    expect(await certificates.at(GOOD)).to.equal(pem);
    expect(asked).to.have.length(2);
  });

  it('are read from four new addresses at once, and one that is known beside them', async () => {
    const { certificates, asked, clock, be, reply } = open();
    await certificates.at(GOOD);
    clock.forward(DAY_MS);
    be('later');
    const reads = Array.from({ length: 10 }, (_, at) => certificates.at(`${GOOD}${at}`));
    const again = certificates.at(GOOD);
    expect(asked).to.have.length(6);
    expect(await reads[9]).to.be.null();
    reply();
    expect([await again, await reads[0]]).to.equal([pem, null]);
  });

  it('are kept, however many addresses without one are asked for', async () => {
    const { certificates, asked } = open();
    await certificates.at(GOOD);
    for (let at = 0; at < 100; at++) await certificates.at(`${GOOD}${at}`);
    expect(await certificates.at(GOOD)).to.equal(pem);
    expect(asked.filter((url) => url === GOOD)).to.have.length(1);
  });

  it('are asked for again after an error that nobody expects', async () => {
    const { certificates, be } = open();
    be('broken');
    await expect(certificates.at(GOOD)).to.reject('not expected');
    be('at once');
    expect(await certificates.at(GOOD)).to.equal(pem);
  });
});
