import { execFileSync } from 'node:child_process';
import { createPrivateKey, createSecretKey, sign } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { verifyHookProofs } from '../../../src/hooks/inbound/proof.js';
import { resolveSender } from '../../../src/hooks/senders/open.js';
import { createSenders } from '../../../src/hooks/senders/senders.js';
import { HttpFailure } from '../../../src/kernel/failure.js';
import { createLog } from '../../../src/kernel/log.js';
import { frozenClock } from '../../harness/clock.js';

export const lab = Lab.script();
const { describe, it, before } = lab;

const TOPIC = 'arn:aws:sns:us-east-1:123456789012:MyTopic';
const NOW = 1_700_000_000_000;
const HOST = 'https://sns.us-east-1.amazonaws.com';
const CERTIFICATE = `${HOST}/SimpleNotificationService-0123456789abcdef.pem`;
const CONFIRMATION = `${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f37`;

let privateKey: ReturnType<typeof createPrivateKey>;
let pem: string;
before(() => {
  const made = execFileSync(
    'openssl',
    'req -x509 -newkey rsa:2048 -nodes -keyout - -days 2 -subj /CN=sns.amazonaws.com'.split(' '),
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  privateKey = createPrivateKey(made);
  pem = made.slice(made.indexOf('-----BEGIN CERTIFICATE'));
});

type Message = Record<string, string>;
const KEYS: Record<string, string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    ...['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  ],
};

/** A message as Amazon signs it. */
const signed = (over: Message = {}, version = '2'): Message => {
  const message: Message = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    Message: 'Hello world!',
    Timestamp: new Date(NOW).toISOString(),
    SignatureVersion: version,
    SigningCertURL: CERTIFICATE,
    ...over,
  };
  const text = (KEYS[message.Type ?? ''] ?? [])
    .filter((name) => name in message)
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
  const algorithm = version === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
  return {
    ...message,
    Signature: sign(algorithm, Buffer.from(text), privateKey).toString('base64'),
  };
};

/** The senders of a daemon, and what they asked outside. */
const open = (status = 200) => {
  const asked: string[] = [];
  const request = async ({ url }: { url: string }) => {
    asked.push(url);
    if (status === 0)
      throw new HttpFailure('refused_connection', { host: url, effectBegan: false });
    return { url, status, headers: {}, body: Buffer.from(url === CERTIFICATE ? pem : '<ok/>') };
  };
  const clock = frozenClock(NOW);
  const log = createLog('silent');
  const senders = createSenders({ http: { request }, clock, log, publicUrl: () => null });
  const sender = resolveSender({ preset: 'sns', topicArn: TOPIC });
  const hook = { id: 'hook_1', userId: 'user_1', sender };
  const proofOf = (message: object) =>
    senders.snsProof([{ hook }], Buffer.from(JSON.stringify(message)));
  const judge = async (message: object) => {
    const body = Buffer.from(JSON.stringify(message));
    const sns = await proofOf(message);
    const [proof] = verifyHookProofs({
      hooks: [{ keys: [createSecretKey(Buffer.from('unused'))], recipe: sender.recipe }],
      ...{ headers: {}, body, url: null, sns, now: 0 },
    });
    if (!proof || 'fault' in proof) return 'refused';
    return (await senders.answer({ hook, key: null }, body)) ?? 'delivery';
  };
  return { asked, judge, proofOf };
};

describe('messages of SNS', () => {
  it('are deliveries where Amazon signed them, in both versions', async () => {
    const { judge, asked } = open();
    expect(await judge(signed())).to.equal('delivery');
    expect(await judge(signed({ Subject: 'With one' }, '1'))).to.equal('delivery');
    expect(asked).to.equal([CERTIFICATE]);
  });

  it('are refused where anything of them was changed', async () => {
    const { judge } = open();
    const message = signed({ Subject: 'A subject' });
    for (const name of ['Message', 'MessageId', 'Subject', 'Timestamp', 'Signature']) {
      expect(await judge({ ...message, [name]: `${message[name]}x` }), name).to.equal('refused');
    }
    const { Subject: _, ...without } = message;
    expect(await judge(without)).to.equal('refused');
    expect(await judge({ ...message, SignatureVersion: '3' })).to.equal('refused');
  });

  it('are refused of another topic, and of certificates that are not Amazon’s', async () => {
    const { judge, asked } = open();
    expect(await judge(signed({ TopicArn: `${TOPIC}2` }))).to.equal('refused');
    const file = 'SimpleNotificationService-0123456789abcdef.pem';
    const urls = [
      `http://sns.us-east-1.amazonaws.com/${file}`,
      `https://sns.us-east-1.amazonaws.com.evil.example/${file}`,
      `https://evil.example/https://sns.us-east-1.amazonaws.com/${file}`,
      `https://sns.us-east-1.amazonaws.com@evil.example/${file}`,
      `https://sns.evil.example#.amazonaws.com/${file}`,
      `https://s3.amazonaws.com/${file}`,
      // Buckets, which anybody may have.
      `https://sns.s3.amazonaws.com/${file}`,
      `https://sns.s3-us-west-2.amazonaws.com/${file}`,
      `https://sns.eu-west-1.amazonaws.com/${file}`,
      `https://sns.us-east-1.amazonaws.com.cn/${file}`,
      `${HOST}/bucket/${file}`,
      `${HOST}/SimpleNotificationService-xyz.pem`,
      `${HOST}/${file}?a=1`,
      `${HOST}/?Action=GetFile`,
    ];
    for (const SigningCertURL of urls) {
      expect(await judge(signed({ SigningCertURL })), SigningCertURL).to.equal('refused');
    }
    expect(asked).to.equal([]);
  });

  it('confirm their own topic alone', async () => {
    const confirming = (SubscribeURL: string) =>
      signed({ Type: 'SubscriptionConfirmation', Token: '2336412f37', SubscribeURL });
    const { judge, asked } = open();
    const answered: unknown = await judge(confirming(CONFIRMATION));
    expect(answered).to.equal({ verdict: 'handshake', json: { received: true } });
    expect(asked).to.equal([CERTIFICATE, CONFIRMATION]);
    const others = [
      CONFIRMATION.replace('MyTopic', 'Another'),
      CONFIRMATION.replace(HOST, 'https://evil.example'),
      CONFIRMATION.replace(HOST, 'https://sns.s3.amazonaws.com'),
      CONFIRMATION.replace(HOST, 'https://sns.eu-west-1.amazonaws.com'),
      CONFIRMATION.replace('ConfirmSubscription', 'Unsubscribe'),
      CONFIRMATION.replace('Action=ConfirmSubscription&', ''),
      `${CONFIRMATION}&TopicArn=${TOPIC}2`,
      `${CONFIRMATION}&Action=Publish`,
      CONFIRMATION.replace('/?', '/other?'),
    ];
    for (const url of others) {
      expect(await judge(confirming(url))).to.equal({ verdict: 'bad_handshake' });
    }
    expect(asked).to.have.length(2);
  });

  it('are refused where one message could be read as another with the same signed text', async () => {
    const { judge } = open();
    const { Timestamp: _, ...rest } = signed({ Message: 'a' });
    const Timestamp = new Date(NOW).toISOString();
    const joined = signed({ Subject: `b\nTimestamp\n${Timestamp}` });
    expect(await judge(joined)).to.equal('refused');
    const moved = signed({ Message: 'Hello', MessageId: `id\nSubject\nS` });
    const apart = { ...moved, MessageId: 'id', Subject: 'S' };
    expect([await judge(moved), await judge(apart)]).to.equal(['refused', 'delivery']);
    expect(await judge(signed({ Message: 'two\nlines' }))).to.equal('delivery');
    expect(await judge(rest)).to.equal('refused');
    for (const Subject of [null, 5, ['b'], { b: 1 }]) {
      expect(await judge({ ...signed(), Subject })).to.equal('refused');
    }
    expect(await judge({ ...signed(), Type: 'Another' })).to.equal('refused');
  });

  it('are refused once SNS no longer tries to deliver them', async () => {
    const { judge } = open();
    const at = (ms: number) => signed({ Timestamp: new Date(NOW + ms).toISOString() });
    expect(await judge(at(-64 * 60_000))).to.equal('delivery');
    expect(await judge(at(-66 * 60_000))).to.equal('refused');
    expect(await judge(at(66 * 60_000))).to.equal('refused');
    expect(await judge(signed({ Timestamp: 'now' }))).to.equal('refused');
  });

  it('have the same digest, whatever stands in the fields that are not signed', async () => {
    const { proofOf } = open();
    const message = signed();
    const first = await proofOf(message);
    const changed = { ...message, MessageAttributes: { a: 1 }, UnsubscribeURL: 'x', Subject2: '' };
    expect(first).to.not.be.null();
    expect(await proofOf(changed)).to.equal(first);
    expect((await proofOf(signed({ Message: 'b' })))?.digest).to.not.equal(first?.digest);
  });

  it('are refused, for a minute, while the certificate cannot be read', async () => {
    const { judge, asked } = open(0);
    expect(await judge(signed())).to.equal('refused');
    expect(await judge(signed())).to.equal('refused');
    expect(asked).to.equal([CERTIFICATE]);
  });
});
