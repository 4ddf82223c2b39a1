export * from './addresses.ts';
export { inAnyCase } from './any-case.ts';
export * from './backend-client.ts';
export { inBatches, type BatchOptions } from './batches.ts';
export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResponse,
} from './outbound/outbound.ts';
export { bring } from './outbound/bring.ts';
export { secured } from './outbound/secured.ts';
export { addressAllowed, rulesFor, type AddressRules } from './outbound/addresses.ts';
export { createResolve, systemResolve } from './outbound/resolve.ts';
export { OutboundError, type OutboundErrorKind } from './outbound/errors.ts';
export { answerable, AppError, databaseAway, StartError } from './errors.ts';
export { createCipher, type Cipher } from './secrets.ts';
export * from './counters.ts';
export * from './environment.ts';
export * from './errors.ts';
export * from './fair.ts';
export * from './faults.ts';
export { allowPage, answersPreflight, checkPage } from './http/cors.ts';
export { isListening } from './http/drain.ts';
export { boundConnections, connectionBounds, REQUEST_TIMES } from './http/connections.ts';
export { challengeFor, RESOURCE_METADATA } from './http/challenge.ts';
export * from './http/csrf.ts';
export * from './http/guards.ts';
export { checkOneHost, requestUrl } from './http/door.ts';
export { drained, STALLED_MS } from './http/drained.ts';
export { readForm, type Form, type FormFile } from './http/form.ts';
export { headerText } from './http/header-text.ts';
export { limitFor } from './http/limits.ts';
export * from './http/principal.ts';
export * from './http/reference.ts';
export * from './http/relay.ts';
export * from './http/reply.ts';
export * from './http/serve.ts';
export * from './http/server.ts';
export * from './ids.ts';
export { amazonEncoded, amazonSigned, type AmazonAccount } from './amazon-signature.ts';
export { answerFault, parseAnswer, parseFewJson, parseJson, textFault } from './json.ts';
export * from './lifecycle.ts';
export * from './linked.ts';
export * from './log.ts';
export * from './metrics.ts';
export { sharedAttributes, type Span } from './telemetry/otlp.ts';
export * from './telemetry/telemetry.ts';
export * from './telemetry/trace.ts';
export { loadNow, onUse } from './on-use.ts';
export { startProcesses, startsOthers } from './processes.ts';
export * from './secret-store.ts';
export * from './secrets.ts';
export * from './settings.ts';
export { tar, untar, type TarEntry, type TarItem } from './tar.ts';
export { createZipWriter, type ZipWriter } from './zip.ts';
export * from './time.ts';
export * from './turns.ts';
export * from './version.ts';
export { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from './workers/pool.ts';
export { readImportOf, type ImportPlan } from './imports/read.ts';
export { readTeamOf } from './workers/team.ts';
export { defineTask, type Task } from './workers/task.ts';
export { digestOf, fileDigest, type SkillFile } from './skills/digest.ts';
export { casesDigest } from './evaluations/digest.ts';
export { lookAt } from './evaluations/look.ts';
export { readSkillOf } from './skills/read.ts';
export type { ReadSkill, SkillGiven, SkillReading } from './skills/read.task.ts';
