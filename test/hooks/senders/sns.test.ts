import { execFileSync } from 'node:child_process';
import { createPrivateKey, createSecretKey, sign } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { proofsOf } from '../../../src/hooks/inbound/proof.js';
import { senderOf } from '../../../src/hooks/senders/open.js';
import { createSenders } from '../../../src/hooks/senders/senders.js';
import { HttpFailure } from '../../../src/kernel/failure.js';
import { createLog } from '../../../src/kernel/log.js';

export const lab = Lab.script();
const { describe, it, before } = lab;

const TOPIC = 'arn:aws:sns:us-east-1:123456789012:MyTopic';
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
    Timestamp: '2012-05-02T00:54:06.655Z',
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
  const clock = { now: () => 1_700_000_000_000 };
  const log = createLog('silent');
  const senders = createSenders({ http: { request }, clock, log, publicUrl: () => null });
  const sender = senderOf({ preset: 'sns', topicArn: TOPIC });
  const hook = { id: 'hook_1', sender };
  const judge = async (message: Message) => {
    const body = Buffer.from(JSON.stringify(message));
    const certificate = (await senders.certificateOf([{ hook }], body)) ?? null;
    const [proof] = proofsOf({
      hooks: [{ keys: [createSecretKey(Buffer.from('unused'))], recipe: sender.recipe }],
      ...{ headers: {}, body, url: null, certificate, now: 0 },
    });
    if (!proof) return 'refused';
    return (await senders.answer({ hook, key: null }, body)) ?? 'delivery';
  };
  return { asked, judge };
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
    const urls = [
      'http://sns.us-east-1.amazonaws.com/a.pem',
      'https://sns.us-east-1.amazonaws.com.evil.example/a.pem',
      'https://evil.example/https://sns.us-east-1.amazonaws.com/a.pem',
      'https://sns.us-east-1.amazonaws.com@evil.example/a.pem',
      'https://sns.evil.example#.amazonaws.com/a.pem',
      'https://s3.amazonaws.com/a.pem',
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
    ];
    for (const url of others) {
      expect(await judge(confirming(url))).to.equal({ verdict: 'bad_handshake' });
    }
    expect(asked).to.have.length(2);
  });

  it('are refused, for a minute, while the certificate cannot be read', async () => {
    const { judge, asked } = open(0);
    expect(await judge(signed())).to.equal('refused');
    expect(await judge(signed())).to.equal('refused');
    expect(asked).to.equal([CERTIFICATE]);
  });
});
