import { readFileSync } from 'node:fs';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import type { Certificate } from '../tunnels/tls.js';

export interface TakenMail {
  from: string;
  to: string[];
  text: string;
  user: string;
}

/** Error with an SMTP status. */
const smtpError = (status: number, message: string): Error =>
  Object.assign(new Error(message), { responseCode: status });

/** Submission server with TLS and logins, controlled by the test. */
export interface FakeSmtpServer {
  port: number;
  taken: TakenMail[];
  logins: { user: string; password?: string; accessToken?: string }[];
  /** Throws to refuse a recipient. */
  recipient: (address: string) => void | Promise<void>;
  /** Called with a whole message before it is acknowledged. Throws to refuse it. */
  arrived: (mail: TakenMail, session: SMTPServerSession) => void | Promise<void>;
  /** Whether a login is correct. */
  isRight: (login: {
    user: string;
    password?: string;
    accessToken?: string;
  }) => boolean | Promise<boolean>;
  breakOff(): void;
  close(): Promise<void>;
}

interface SmtpOptions {
  certificate: Certificate;
  tls?: 'implicit' | 'starttls' | 'none';
}

export const startSmtp = async ({
  certificate,
  tls = 'implicit',
}: SmtpOptions): Promise<FakeSmtpServer> => {
  const sockets = new Set<{ destroy(): unknown }>();
  const server = new SMTPServer({
    secure: tls === 'implicit',
    key: readFileSync(certificate.key),
    cert: readFileSync(certificate.certificate),
    ...(tls === 'none' && { disabledCommands: ['STARTTLS'] }),
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    // Requires a login.
    authOptional: false,
    hidePIPELINING: true,
    closeTimeout: 100,
    logger: false,
    onAuth: ({ username: user = '', password, accessToken }, _session, done) => {
      const login = {
        user,
        ...(typeof password === 'string' && { password }),
        ...(typeof accessToken === 'string' && { accessToken }),
      };
      standin.logins.push(login);
      Promise.resolve()
        .then(() => standin.isRight(login))
        .then((isRight) => {
          if (isRight) done(null, { user });
          else done(smtpError(535, 'Authentication failed'));
        }, done);
    },
    onRcptTo: ({ address }, _session, done) => {
      Promise.resolve()
        .then(() => standin.recipient(address))
        .then(() => done(), done);
    },
    onData: (stream, session, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(pieces).toString('latin1'),
          user: String(session.user ?? ''),
        };
        Promise.resolve()
          .then(() => standin.arrived(mail, session))
          .then(() => {
            standin.taken.push(mail);
            done();
          }, done);
      });
    },
  });
  // Tests disconnect clients on purpose.
  server.on('error', () => undefined);
  server.server.on('connection', (socket: { destroy(): unknown }) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  const standin: FakeSmtpServer = {
    port: typeof address === 'object' && address ? address.port : 0,
    taken: [],
    logins: [],
    recipient: () => undefined,
    arrived: () => undefined,
    isRight: () => true,
    breakOff: () => {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    close: () =>
      new Promise((resolve) => {
        standin.breakOff();
        server.close(() => resolve());
      }),
  };
  return standin;
};
