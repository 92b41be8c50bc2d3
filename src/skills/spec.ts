import Joi from 'joi';
import * as s from '../kernel/contract/schema.js';
import { BadUrl, parseUrl } from '../kernel/egress.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { argvFault } from '../providers/confine/request.js';
import { NewMcpServer } from './contract.js';

/** The configuration of an MCP server. All of it may be shown to an admin. */
export interface ServerSpec {
  at:
    | { kind: 'stdio'; command: string; args: string[]; readable: string[]; network: boolean }
    | { kind: 'http'; url: string };
  /** The longest silence within a call, in milliseconds. */
  timeoutMs: number;
  /** True if every user may use it, not only users with the right to MCP servers. */
  everyone: boolean;
}

/** The part of the configuration that is never shown. */
export interface ServerSecrets {
  env: Record<string, string>;
  headers: Record<string, string>;
}

/** The configuration as it is written in `mcp.json` and in the API. */
export type WrittenServer = Omit<NewMcpServer, 'name'>;

/** Thrown if the configuration is not valid; the message names the field. */
export class BadServer extends Error {
  constructor(
    readonly path: string,
    readonly reason: string,
  ) {
    super(path === '' ? reason : `${path} ${reason}`);
    this.name = 'BadServer';
  }
}

export const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * The schema of an entry of `mcp.json`: the body of the API without the name. Ours: further fields,
 * which other programs write into the same file, are ignored.
 */
const Written: Joi.ObjectSchema<WrittenServer> = s.lenient(
  s.later(() => {
    const server: Joi.ObjectSchema = NewMcpServer;
    const type = Joi.valid('stdio', 'http', 'streamable-http', 'streamableHttp');
    return server.keys({ name: Joi.any().strip(), type });
  }),
);

/** Parses an entry of `mcp.json`. Errors: BadServer. */
export const writtenServer = (given: unknown): WrittenServer => {
  const { value, error } = Written.validate(given, { errors: { label: false } });
  const [detail] = error?.details ?? [];
  if (detail) throw new BadServer(detail.path.join('.'), detail.message);
  if (!value) throw new BadServer('', 'is missing');
  return value;
};

/** Splits a configuration into what may be shown and the secrets. Errors: BadServer. */
export const specOf = (written: WrittenServer): { spec: ServerSpec; secrets: ServerSecrets } => {
  const { env = {}, headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS, everyone = false } = written;
  for (const [name, value] of Object.entries(headers)) {
    const fault = value === '' ? null : faultOfHeaderValue(value);
    if (fault !== null) throw new BadServer(`headers.${name}`, fault);
  }
  return { spec: { at: placeOf(written), timeoutMs, everyone }, secrets: { env, headers } };
};

const placeOf = ({ command, args = [], readable = [], network = false, url }: WrittenServer) => {
  if (url !== undefined) return { kind: 'http' as const, url: checkedUrl(url) };
  const fault = argvFault([command ?? '', ...args]);
  if (fault) throw new BadServer('command', `with its arguments ${fault}`);
  return { kind: 'stdio' as const, command: command ?? '', args, readable, network };
};

const checkedUrl = (url: string): string => {
  try {
    return parseUrl(url).href;
  } catch (error) {
    if (!(error instanceof BadUrl)) throw error;
    throw new BadServer('url', `cannot be used: ${error.message}`);
  }
};
