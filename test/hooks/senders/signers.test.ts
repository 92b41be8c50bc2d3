import { createSecretKey } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { SenderVerification } from '../../../src/hooks/senders/contract.js';
import { verificationFaults } from '../../../src/hooks/senders/faults.js';
import { createSignatureRecipe } from '../../../src/hooks/senders/open.js';
import { isSignedBy } from '../../../src/hooks/senders/verify.js';
import { type ScriptedRequest, signedByScript, verifyOf } from './signers.js';

export const lab = Lab.script();
const { describe, it } = lab;

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const ADDRESS = 'https://hooks.example.org/api/webhooks/<sender>';

describe('what a script signs as senders do', () => {
  const signed = signedByScript(ADDRESS, AT);

  const isVerified = (sender: string, secret: string, sent: ScriptedRequest): boolean => {
    const headers = Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return isSignedBy(
      createSignatureRecipe(verifyOf(sender)),
      createSecretKey(Buffer.from(secret)),
      {
        headers,
        body: Buffer.from(sent.body, 'base64'),
        url: ADDRESS.replace('<sender>', sender) + sent.query,
        now: AT,
      },
    );
  };

  it('is verified as each sender is described, and none of its forgeries is', () => {
    const faults = signed.flatMap(({ sender, secret, requests }) =>
      Object.entries(requests)
        .filter(([name, sent]) => isVerified(sender, secret, sent) !== (name === 'valid'))
        .map(([name]) => `${sender}: ${name}`),
    );
    expect(faults).to.equal([]);
  });

  it('comes from more senders than 43, each described without a fault', () => {
    const names = new Set(signed.map(({ sender }) => sender.replace(/-(?:form|json)$/, '')));
    expect(names.size).to.be.above(43);
    for (const sender of names) {
      const verify = verifyOf(sender);
      expect(SenderVerification.validate(verify).error, sender).to.be.undefined();
      expect(verificationFaults(verify, true), sender).to.equal([]);
    }
  });
});
