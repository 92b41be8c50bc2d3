import { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import Joi from 'joi';
import type { AuditedCall, Auditing, AuditSubject } from './auditrecorder.js';
import type { Bodies } from './body.js';
import {
  type Caller,
  type Contract,
  CustomReply,
  type Endpoint,
  EventStream,
  FileReply,
  type Handlers,
  JsonText,
  type RequestContext,
} from './contract/endpoint.js';
import type { Schema } from './contract/schema.js';
import { MULTIPART, openForm } from './form.js';
import { inputRules, isJson, type ParseInWorker, readBody, refuseQuery } from './input.js';
import { isJsonForm, openJsonForm } from './jsonform.js';
import { type FieldFault, faultsMessage, type ProblemData } from './problem.js';
import { readRawBody } from './raw.js';
import { isReplyStored, type Replays, replayCall, replyOnce } from './replay.js';
import { findCallers, isForOrganization, mergePages, type Organizations } from './sharing.js';
import { createEventReadable, parseStreamRequest, STREAMED } from './stream.js';

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    context: RequestContext;
    audited?: AuditedCall;
  }
  interface AppCredentials {
    caller: Caller;
  }
  interface RouteOptionsApp {
    /** A function, because hapi copies other values. Missing for routes of plugins. */
    endpoint?: () => Endpoint;
  }
}

export interface Resource {
  name: string;
  contract: Contract;
  handlers: Record<string, Handler>;
}
type Handler = (input: unknown, by: unknown) => Promise<unknown>;

export const resource = <C extends Contract>(
  name: string,
  contract: C,
  handlers: Handlers<C>,
): Resource => ({ name, contract, handlers: handlers as unknown as Record<string, Handler> });

export interface RouteOptions {
  checkedReplies: number;
  replays: Replays;
  bodies: Bodies;
  auditing: Auditing;
  organizations: Organizations;
  apart: ParseInWorker;
}

/** A path may be much longer than any ID. */
const MAX_TARGET_LENGTH = 200;
export const createResourceRoutes = (of: Resource, options: RouteOptions): ServerRoute[] =>
  Object.entries(of.contract).map(([name, endpoint]) => ({
    method: endpoint.method,
    path: endpoint.path,
    options: {
      id: `${of.name}.${name}`,
      app: { endpoint: () => endpoint },
      description: endpoint.summary,
      tags: ['api', of.name],
      ...buildAuthOptions(endpoint),
      ext: buildExtensions(endpoint, options),
      payload: buildPayloadOptions(endpoint),
      validate: inputRules(endpoint),
      response: { emptyStatusCode: 204, ...replyRules(endpoint, options.checkedReplies) },
      handler: createRouteHandler(`${of.name}.${name}`, endpoint, of.handlers[name], options),
    },
  }));

const buildAuthOptions = (endpoint: Endpoint) => {
  if (endpoint.access === 'public') return { auth: false as const };
  if (endpoint.access === 'optional') return { auth: { mode: 'try' as const } };
  const isForAdmins = endpoint.access === 'admin' && endpoint.shared === undefined;
  return isForAdmins ? { auth: { access: { scope: ['admin'] } } } : {};
};

/** Of an endpoint that members may call for their organization. The handler checks their role. */
const refuseOthers =
  (organizations: Organizations, endpoint: Endpoint): Lifecycle.Method =>
  async ({ auth, params, query, payload }, h) => {
    const { role, userId } = auth.credentials?.app?.caller ?? { role: 'user', userId: '' };
    const named = { endpoint, inPath: Object.values(params).map(String)[0], query, body: payload };
    if (role !== 'admin' && !(await isForOrganization(organizations, named, userId)))
      throw adminRequired();
    return h.continue;
  };

const adminRequired = (): Boom.Boom => Boom.forbidden('This action requires the admin role');

const SCIM = 'application/scim+json';

const buildPayloadOptions = ({ method, form, rawBytes, scim }: Endpoint) => {
  if (method === 'GET') return undefined;
  const asStream = { output: 'stream' as const, parse: false as const };
  if (form) {
    const allow = form.jsonBytes ? [MULTIPART, 'application/json'] : MULTIPART;
    return { ...asStream, allow, maxBytes: form.bytes, timeout: false as const };
  }
  // hapi would parse it on the event loop, whatever its size.
  if (rawBytes === undefined) {
    const allow = scim ? [SCIM, 'application/json'] : 'application/json';
    return { allow, output: 'data' as const, parse: 'gunzip' as const };
  }
  // The resource judges the type, after the signature. hapi would refuse an invalid one before.
  return { ...asStream, maxBytes: rawBytes, override: 'application/octet-stream' };
};

const buildExtensions = (endpoint: Endpoint, options: RouteOptions) => ({
  onPostAuth: [
    ...(isJson(endpoint) ? [{ method: readBody(options.apart) }] : []),
    ...(endpoint.access === 'admin' && endpoint.shared !== undefined
      ? [{ method: refuseOthers(options.organizations, endpoint) }]
      : []),
  ],
  ...(endpoint.audit && { onPreResponse: { method: recordFailure(options.auditing) } }),
});

export const badRequest = (faults: FieldFault[]): Boom.Boom =>
  Boom.badRequest(faultsMessage(faults), { details: faults });

export const orNotFound = <T extends object>(found: T | null | undefined, message: string): T => {
  if (found === null || found === undefined) throw Boom.notFound(message);
  return found;
};

export const throwIfFaults = (faults: FieldFault[]): void => {
  if (faults.length > 0) throw badRequest(faults);
};

export const getSuccessStatus = ({ status, reply }: Endpoint): number =>
  status ?? (reply ? 200 : 204);

/** No schemas if replies are not checked, because hapi copies them for every route. */
const replyRules = (endpoint: Endpoint, sample: number) =>
  endpoint.produces || endpoint.streams || endpoint.textAs || sample === 0
    ? {}
    : { sample, status: statusSchemas(endpoint) };

const statusSchemas = (endpoint: Endpoint) => {
  const schemas: Record<number, Schema> = {
    [getSuccessStatus(endpoint)]: endpoint.reply ?? Joi.any().allow(null),
    ...endpoint.otherReplies,
  };
  return Object.fromEntries(
    Object.entries(schemas).map(([status, schema]) => [status, holding(schema)]),
  );
};

const holding = (schema: Schema) => async (reply: unknown) => {
  const { error } = schema.validate(reply);
  if (!error) return;
  const isJsonText = typeof reply === 'string' && reply.startsWith('{');
  const asJson = isJsonText ? schema.validate(JSON.parse(reply)) : { error };
  if (asJson.error) throw asJson.error;
};

const createRouteHandler =
  (route: string, endpoint: Endpoint, handle: Handler | undefined, options: RouteOptions) =>
  async (request: Request, h: ResponseToolkit): Promise<ResponseObject> => {
    if (!handle) throw new Error(`No handler for ${route}`);
    const { replays, auditing, organizations } = options;
    const by = getRequestCaller(request);
    const audited = endpoint.audit ? auditedCall(request, auditing) : null;
    if (!audited && isActing(request, endpoint))
      await auditing.impersonated(buildAuditSubject(request));
    const isKept = isReplyStored(endpoint) && !parseStreamRequest(endpoint, request);
    const call = isKept ? replayCall(route, request) : null;
    const callers = await findRequestCallers(organizations, endpoint, request, by);
    const [caller] = callers;
    if (caller && 'member' in caller) {
      audited?.actFor(caller.userId);
      // A member who has left gets no stored reply of the organization.
      if (call) call.route = `${call.route} ${caller.userId}`;
    }
    const callFor = (input: unknown, of: RequestContext | Caller) =>
      handle(input, audited ? Object.assign(of, { record: audited.record }) : of);
    const work = async (): Promise<CustomReply<unknown>> => {
      const result = await withInput(endpoint, request, options, async (input) => {
        if (!caller || callers.length === 1) return callFor(input, caller ?? by);
        const pages = await Promise.all(callers.map((one) => callFor(input, one)));
        return mergePages(pages, request.query, endpoint);
      });
      await audited?.succeeded();
      if (result instanceof EventStream)
        return new CustomReply(200, createEventReadable(result), STREAMED);
      if (result instanceof FileReply) return new CustomReply(200, result.content, result.headers);
      return result instanceof CustomReply
        ? result
        : new CustomReply(getSuccessStatus(endpoint), result);
    };
    const reply = call ? await replyOnce(replays, call, work) : await work();
    const isText = reply.body instanceof JsonText;
    const body = reply.body instanceof JsonText ? reply.body.text : reply.body;
    const response = h.response(body ?? undefined).code(reply.status);
    if (endpoint.produces || isText) response.type(endpoint.produces ?? 'application/json');
    else if (endpoint.textAs && typeof body === 'string') response.type(endpoint.textAs);
    else if (endpoint.scim && body !== undefined) response.type(SCIM);
    for (const [name, value] of Object.entries(reply.headers)) response.header(name, value);
    return response;
  };

const findRequestCallers = async (
  organizations: Organizations,
  endpoint: Endpoint,
  { params, query, payload, raw }: Request,
  by: RequestContext | Caller,
): Promise<(RequestContext | Caller)[]> => {
  if (endpoint.shared === undefined || !('userId' in by)) return [by];
  const whenClosed = (act: () => void) =>
    void (raw.res.closed ? act() : raw.res.once('close', act));
  const inPath = Object.values(params).map(String)[0];
  const call = { endpoint, inPath, query, body: payload, whenClosed };
  const callers = await findCallers(organizations, call, by);
  const isAllowed = callers.every(({ member, role }) => member || role === 'admin');
  if (endpoint.access === 'admin' && !isAllowed) throw adminRequired();
  return callers;
};

/** Created on first use, by the handler or an earlier refusal, so that a call leaves one row. */
const auditedCall = (request: Request, auditing: Auditing): AuditedCall => {
  request.app.audited ??= auditing.begin(buildAuditSubject(request));
  return request.app.audited;
};

const buildAuditSubject = ({ app, params, query, route: { settings } }: Request): AuditSubject => ({
  action: settings.app?.endpoint?.().audit ?? settings.id ?? '',
  target: Object.values(params).join('/').slice(0, MAX_TARGET_LENGTH) || null,
  by: app.context,
  isContinued: Boolean(query[settings.app?.endpoint?.().continuedBy ?? '']),
  mayFail: settings.app?.endpoint?.().auditMayFail === true,
});

const isActing = ({ auth }: Request, { method }: Endpoint): boolean =>
  method !== 'GET' && auth.credentials?.app?.caller.impersonator != null;

const recordFailure =
  (auditing: Auditing): Lifecycle.Method =>
  async (request, h) => {
    const { response } = request;
    if (!('isBoom' in response)) return h.continue;
    const data: ProblemData = response.data ?? {};
    await auditedCall(request, auditing).failed(response.output.statusCode, data.code);
    return h.continue;
  };

const withInput = async <T>(
  endpoint: Endpoint,
  request: Request,
  { bodies, apart }: Pick<RouteOptions, 'bodies' | 'apart'>,
  use: (input: unknown) => Promise<T>,
): Promise<T> => {
  const { params, query, payload, headers } = request;
  const streaming = endpoint.streams && { streaming: parseStreamRequest(endpoint, request) };
  const { form } = endpoint;
  if (form) {
    const asker = request.auth.credentials?.app?.caller.userId ?? request.app.context.address;
    // Forms use the system clock: a test that moves its clock must not end an upload in progress.
    const opened = isJsonForm(request, form)
      ? openJsonForm(request, form, { asker, apart })
      : openForm(request, form);
    return use({ ...params, query, form: opened });
  }
  const cookie = endpoint.cookie && {
    cookie: readCookie(String(headers.cookie ?? ''), endpoint.cookie),
  };
  const most = endpoint.rawBytes;
  if (most === undefined) {
    const condition = endpoint.scim && { ifMatch: headers['if-match'] ?? null };
    return use({ ...params, query, body: payload, ...cookie, ...streaming, ...condition });
  }
  if (!(payload instanceof Readable)) throw new Error('A raw body must be a stream');
  if (!endpoint.ignoresQuery) await refuseQuery(query);
  const { url = '' } = request.raw.req;
  return readRawBody(bodies, { stream: payload, most }, (bytes) =>
    use({ ...params, query, ...cookie, raw: { bytes, headers, url } }),
  );
};

const readCookie = (header: string, name: string): string | undefined =>
  header
    .split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const getRequestCaller = (request: Request): RequestContext | Caller =>
  (request.auth.isAuthenticated && request.auth.credentials.app?.caller) || request.app.context;
