import Joi from 'joi';
import * as s from '../kernel/contract/schema.js';
import { BadUrl, parseUrl } from '../kernel/egress.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { argvFault } from '../providers/confine/request.js';
import { NewMcpServer } from './contract.js';

/** Visible to admins. */
export interface ServerSpec {
  at:
    | { kind: 'stdio'; command: string; args: string[]; readable: string[]; network: boolean }
    | { kind: 'http'; url: string };
  /** Maximum time without a message during a call, in milliseconds. */
  timeoutMs: number;
  /** If false, users need the permission for MCP servers. */
  everyone: boolean;
}

export interface ServerSecrets {
  env: Record<string, string>;
  headers: Record<string, string>;
}

export type ServerEntry = Omit<NewMcpServer, 'name'>;

/** The message names the field. */
export class InvalidServer extends Error {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(path === '' ? reason : `${path} ${reason}`);
    this.name = 'InvalidServer';
  }
}

export const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const DEFAULT_TIMEOUT_MS = 60_000;

/** Unknown fields are ignored, because other programs write into the file. */
const Written: Joi.ObjectSchema<ServerEntry> = s.stripUnknownKeys(
  s.lazy(() => {
    const server: Joi.ObjectSchema = NewMcpServer;
    const type = Joi.valid('stdio', 'http', 'streamable-http', 'streamableHttp');
    return server.keys({ name: Joi.any().strip(), type });
  }),
);

/** Errors: InvalidServer. */
export const parseServerEntry = (given: unknown): ServerEntry => {
  const { value, error } = Written.validate(given, { errors: { label: false } });
  const [detail] = error?.details ?? [];
  if (detail) throw new InvalidServer(detail.path.join('.'), detail.message);
  if (!value) throw new InvalidServer('', 'is missing');
  return value;
};

/** Errors: InvalidServer. */
export const splitServerEntry = (
  written: ServerEntry,
): { spec: ServerSpec; secrets: ServerSecrets } => {
  const { env = {}, headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS, everyone = false } = written;
  for (const [name, value] of Object.entries(headers)) {
    const fault = value === '' ? null : faultOfHeaderValue(value);
    if (fault !== null) throw new InvalidServer(`headers.${name}`, fault);
  }
  return { spec: { at: parseTransport(written), timeoutMs, everyone }, secrets: { env, headers } };
};

const parseTransport = ({
  command,
  args = [],
  readable = [],
  network = false,
  url,
}: ServerEntry) => {
  if (url !== undefined) return { kind: 'http' as const, url: checkedUrl(url) };
  const fault = argvFault([command ?? '', ...args]);
  if (fault) throw new InvalidServer('command', `with the arguments ${fault}`);
  return { kind: 'stdio' as const, command: command ?? '', args, readable, network };
};

const checkedUrl = (url: string): string => {
  try {
    return parseUrl(url).href;
  } catch (error) {
    if (!(error instanceof BadUrl)) throw error;
    throw new InvalidServer('url', `is invalid: ${error.message}`);
  }
};
