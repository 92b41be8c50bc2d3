import { readFile } from 'node:fs/promises';
import { createServer } from 'node:tls';
import type { Certificate } from '../tunnels/tls.js';

/** Mail server that refuses each login and echoes it, encoded and decoded. */
export interface MailEcho {
  port: number;
  close(): void;
}

export const startMailEcho = async (
  kind: 'imap' | 'smtp',
  { certificate, key }: Certificate,
): Promise<MailEcho> => {
  const server = createServer(
    { cert: await readFile(certificate), key: await readFile(key) },
    (socket) => {
      socket.on('error', () => undefined);
      socket.write(kind === 'imap' ? '* OK ready\r\n' : '220 ready\r\n');
      socket.on('data', (data) => {
        for (const line of data.toString().split('\r\n').filter(Boolean)) {
          socket.write(kind === 'imap' ? imapReply(line) : smtpReply(line));
        }
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { port, close: () => server.close() };
};

const imapReply = (line: string): string => {
  const [tag, verb = '', , told = ''] = line.split(' ');
  if (/^capability$/i.test(verb)) {
    return `* CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR\r\n${tag} OK done\r\n`;
  }
  return `${tag} NO [AUTHENTICATIONFAILED] refused: ${told} is ${decoded(told)}\r\n`;
};

const smtpReply = (line: string): string => {
  if (/^EHLO/i.test(line)) return '250-ready\r\n250 AUTH PLAIN\r\n';
  const told = line.split(' ')[2] ?? '';
  return `535 5.7.8 refused: ${told} is ${decoded(told)}\r\n`;
};

const decoded = (told: string): string =>
  Buffer.from(told, 'base64')
    .toString('latin1')
    .replace(/[^ -~]/g, ' ');
