import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { until } from '../app.js';
import { freePort } from '../tunnels/port.js';
import type { Certificate } from '../tunnels/tls.js';

/** A private Dovecot with TLS and mailboxes. */
export interface Dovecot {
  /** Ports of IMAP over TLS and of IMAP with STARTTLS. */
  ports: { implicit: number; starttls: number };
  /** Delivers a message into a folder unchanged. */
  deliver(user: string, message: string | Buffer, folder?: string): Promise<void>;
  maildir(user: string): string;
  /**
   * Deletes the index of a user's messages, so that each folder gets a new UIDVALIDITY, which is a
   * time in seconds.
   */
  forgetUids(user: string): Promise<void>;
  log(): Promise<string>;
  /** Restarts it on the same mailboxes, after `meanwhile`. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

interface DovecotOptions {
  certificate: Certificate;
  /** Introspection endpoint for access tokens. Without it there are none. */
  introspection?: string;
}

/** Why the Dovecot tests cannot run here. `null` if they can. */
export const dovecotMissing = (): string | null => {
  if (process.getuid?.() !== 0) return 'Dovecot starts as root alone';
  return existsSync('/usr/sbin/dovecot') ? null : 'Dovecot is not installed';
};

const NOBODY = 65534;
/** Files in which Dovecot keeps the message ids of a mailbox. */
const KNOWN = [
  ...['dovecot-uidlist', 'dovecot-uidvalidity'],
  ...['dovecot.index', 'dovecot.index.log', 'dovecot.index.cache'],
];
/** Time until the next second has started. */
const SECOND_MS = 1100;

/** Password of every mailbox. Any name is a mailbox. */
export const MAILBOX = 'mailbox-password';

export const startDovecot = async (options: DovecotOptions): Promise<Dovecot> => {
  // Not below the test folder, which the Dovecot users cannot enter.
  const folder = await mkdtemp('/tmp/adjutant-dovecot-');
  const at = (...names: string[]): string => join(folder, ...names);
  const ports = { implicit: await freePort(), starttls: await freePort() };
  await chmod(folder, 0o755);
  await mkdir(at('run'));
  await mkdir(at('mail'));
  await chown(at('mail'), NOBODY, NOBODY);
  await writeFile(at('oauth2.conf'), tokensOf(options.introspection ?? 'http://127.0.0.1:1/'));
  await writeFile(at('dovecot.conf'), settingsOf(folder, ports, options));
  const maildir = (user: string): string => at('mail', user, 'Maildir');
  let count = 0;
  let running = await run(folder, ports.implicit);
  return {
    ports,
    maildir,
    deliver: async (user, message, box) => {
      const place = box === undefined ? maildir(user) : join(maildir(user), `.${box}`);
      for (const part of ['', 'tmp', 'new', 'cur']) await makeOwn(at('mail', user), place, part);
      const name = `${Date.now()}.${String(++count).padStart(8, '0')}.test`;
      await writeFile(join(place, 'tmp', name), message);
      await chown(join(place, 'tmp', name), NOBODY, NOBODY);
      await rename(join(place, 'tmp', name), join(place, 'new', name));
    },
    forgetUids: async (user) => {
      for (const file of KNOWN) await rm(join(maildir(user), file), { force: true });
      await setTimeout(SECOND_MS);
    },
    log: () => readFile(at('dovecot.log'), 'utf8'),
    restart: async (meanwhile) => {
      await end(running);
      try {
        await meanwhile?.();
      } finally {
        running = await run(folder, ports.implicit);
      }
    },
    stop: async () => {
      await end(running);
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Creates a mailbox folder and its parents, owned by the user. */
const makeOwn = async (home: string, place: string, part: string): Promise<void> => {
  await mkdir(join(place, part), { recursive: true });
  for (const each of [home, join(home, 'Maildir'), place, join(place, part)]) {
    if (existsSync(each)) await chown(each, NOBODY, NOBODY);
  }
};

const run = async (folder: string, port: number): Promise<ChildProcess> => {
  const child = spawn('/usr/sbin/dovecot', ['-F', '-c', join(folder, 'dovecot.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await until(
    () => answers(port),
    (is) => is,
  );
  return child;
};

const answers = async (port: number): Promise<boolean> => {
  await setTimeout(20);
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

const end = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
};

const settingsOf = (
  folder: string,
  { implicit, starttls }: Dovecot['ports'],
  { certificate: { certificate, key } }: DovecotOptions,
): string =>
  `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
first_valid_uid = 1
mail_location = maildir:${folder}/mail/%n/Maildir
ssl = required
ssl_cert = <${certificate}
ssl_key = <${key}
auth_username_format = %Ln
auth_mechanisms = plain login xoauth2
auth_failure_delay = 0
mail_max_userip_connections = 100
service imap-login {
  inet_listener imap { 
    port = ${starttls}
  }
  inet_listener imaps { 
    port = ${implicit}
    ssl = yes
  }
}
${LOGINS}`.replaceAll('FOLDER', folder);

/** Mailbox folders, and how their users log in. */
const LOGINS = `
namespace inbox {
  inbox = yes
  separator = /
  mailbox Sent { 
    special_use = \\Sent
    auto = create
  }
  mailbox Junk { 
    special_use = \\Junk
    auto = create
  }
}
passdb {
  driver = static
  mechanisms = plain login
  args = password=${MAILBOX}
}
passdb {
  driver = oauth2
  mechanisms = xoauth2
  args = FOLDER/oauth2.conf
}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=FOLDER/mail/%n allow_all_users=yes
}
`;

const tokensOf = (url: string): string => `
introspection_mode = post
introspection_url = ${url}
username_attribute = username
active_attribute = active
active_value = true
force_introspection = yes
`;
