/** Writ as a library: everything a program needs to compose an agent, run it, and keep its record. */
export { adapters, vocabulary } from './catalog.ts';
export { type Clock, systemClock } from './clock.ts';
export type { Agent } from './compose/agent.ts';
export {
  type CapabilityLimits,
  type CapabilityRequest,
  type CapabilityResolution,
  narrowCapabilities,
  resolveCapabilities,
} from './compose/capabilities.ts';
export { compose } from './compose/compose.ts';
export { type DefinedFragment, defineFragment, type FragmentDefinition } from './compose/define-fragment.ts';
export { explain } from './compose/explain.ts';
export type { Fact, FactValue, Probe, ProbeContext } from './compose/facts.ts';
export { loadAgent, loadSituation, type OptionForm, type Vocabulary } from './compose/load/agent.ts';
export { digestsOf, readFragmentFiles } from './compose/load/proof-files.ts';
export { readSkill, readSkills } from './compose/load/skills.ts';
export { composeOnce, type Decided, type LoopComposer } from './compose/loop.ts';
export { plainComposition } from './compose/plain.ts';
export type { BreakerMode, Policies } from './compose/policies.ts';
export { projectMarker } from './compose/probes/project-marker.ts';
export { type Forecast, type ForecastContext, forecast, volatileFacts } from './compose/proof/forecast.ts';
export { type Lock, lockAgent, lockText, type Pin, readLock } from './compose/proof/lock.ts';
export { type SentenceDiff, sentenceDiff } from './compose/proof/sentence-diff.ts';
export { type Sentence, sentencesOf } from './compose/proof/sentences.ts';
export { type Space, spaceOf } from './compose/proof/space.ts';
export { type Span, spansOf } from './compose/proof/spans.ts';
export { type SituationInput, settle } from './compose/settle.ts';
export type { SessionTexts, Situation } from './compose/situation.ts';
export type { Skill } from './compose/skills.ts';
export {
  type Catalogue,
  openCatalogue,
  type SearchHit,
  type SearchRequest,
} from './compose/surface/catalogue.ts';
export {
  compileSurface,
  recompileSurface,
  type Surface,
  type SurfaceChange,
} from './compose/surface/compile-surface.ts';
export { explainAll, explainSurface, type SurfaceExplanation } from './compose/surface/explain-surface.ts';
export type { SurfaceMode } from './compose/surface/mode.ts';
export type { SurfaceRequest } from './compose/surface/request.ts';
export { narrowScope, type Scope } from './compose/surface/scope.ts';
export { type Trigger, type UnitDefinition, unitId } from './compose/surface/unit.ts';
export { type ToolParts, toolSchemasOf, unitsOfTools } from './compose/surface/units-of-tools.ts';
export { withFragments } from './compose/with-fragments.ts';
export type { Adapter } from './deliver/adapter.ts';
export { lookAround } from './deliver/ambient.ts';
export { forgetHome, homesFolder } from './deliver/drive/home.ts';
export { installedVersion } from './deliver/drive/installed-version.ts';
export { type OutsideOptions, outside } from './deliver/drive/outside.ts';
export type { MeterOptions } from './deliver/meter/meter.ts';
export type { Tariff } from './deliver/meter/reservation.ts';
export type { DeliveryRules } from './deliver/permit.ts';
export { planDelivery } from './deliver/plan-delivery.ts';
export { receiptOf } from './deliver/receipt.ts';
export { type Conversation, conversations } from './deliver/recorder/conversations.ts';
export type { Exchange } from './deliver/recorder/exchange.ts';
export {
  type InputPart,
  type ModelRequest,
  type ReadRequest,
  readModelRequest,
} from './deliver/recorder/model-request.ts';
export {
  type GatedRequest,
  type HeldBack,
  type Recorder,
  type RecorderOptions,
  startRecorder,
} from './deliver/recorder/recorder.ts';
export type { DeliveryRequest, RequestedDimensions } from './deliver/request.ts';
export { type ErrorJson, type ErrorKind, WritError } from './errors.ts';
export type { ChildEnd, ChildRequest, Harness, Host, OpenSession, Session } from './harness.ts';
export { thisHolder } from './ledger/holder.ts';
export { type Ledger, type LedgerOptions, openLedger } from './ledger/ledger.ts';
export { type LedgerPathOptions, type LedgerPlace, ledgerPath } from './ledger/locate.ts';
export type { RedactedStream, Secret } from './ledger/secrets.ts';
export type { Lease, RunFilter, Store, TornTail } from './ledger/store.ts';
export { memoryStore } from './ledger/stores/memory.ts';
export { type SqliteStoreOptions, sqliteStore } from './ledger/stores/sqlite.ts';
export { type CommandStartOptions, commandStart } from './native/command/command-start.ts';
export { commandCancel, commandRead, commandWait, commandWrite } from './native/command/command-tools.ts';
export {
  type ContextSource,
  type Contexts,
  type ContextsOptions,
  openContexts,
} from './native/context/contexts.ts';
export { type ContextLimits, defaultContextLimits } from './native/context/limits.ts';
export type { ContextAnswer } from './native/context/operations.ts';
export type { ContextReader } from './native/context/reader.ts';
export type { GivenContext } from './native/context/session-contexts.ts';
export { type FilePatchOptions, filePatch } from './native/edit/file-patch.ts';
export { type FileWriteOptions, fileWrite } from './native/edit/file-write.ts';
export type { Model, ModelReply, Price } from './native/model/model.ts';
export { type ResolvedModel, type ResolveOptions, resolveModel } from './native/model/providers.ts';
export type { WireName } from './native/model/wire-names.ts';
export { type NativeOptions, native } from './native/native.ts';
export type { Plan, Step } from './native/plan/ast.ts';
export { planCapabilities, planCapability } from './native/plan/capabilities.ts';
export {
  type AcceptedPlan,
  type CheckedPlan,
  checkPlan,
  type PlanCheck,
  type PlanRegistry,
} from './native/plan/check-plan.ts';
export { estimatePlan, type PlanEstimate } from './native/plan/estimate-plan.ts';
export { faultText, type PlanFault } from './native/plan/fault.ts';
export type { GivenSkill, PlanSkills } from './native/plan/given-skills.ts';
export { defaultPlanLimits, type PlanLimits, planLimits } from './native/plan/limits.ts';
export { planTool } from './native/plan/plan-tool.ts';
export { type ParsedPlan, parsePlan } from './native/plan/read-plan.ts';
export { planJsonSchema } from './native/plan/schema.ts';
export { type PlanOptions, planTask } from './native/plan/session-plans.ts';
export {
  type Assertion,
  type AssertionCatalogue,
  argumentTypes,
  type EvidencePolicy,
  openAssertions,
} from './native/spec/catalogue.ts';
export { compileSpec, type FrozenSpec } from './native/spec/compile-spec.ts';
export { type MeetOptions, meetSpec } from './native/spec/meet-spec.ts';
export { claimOf, type Observation, observeSpec, type StateRef } from './native/spec/observe-spec.ts';
export type { GivenSpec } from './native/spec/run-spec.ts';
export { readSpec, readSpecText, type Spec, specJsonSchema } from './native/spec/spec.ts';
export { type AssertedWorld, standardAssertions } from './native/spec/standard-assertions.ts';
export { type Verdict, verifySpec } from './native/spec/verify-spec.ts';
export { contextPeek, contextSearch, contextSlice } from './native/tool/context-tools.ts';
export {
  defineTool,
  failed,
  notDispatched,
  stillUnknown,
  type ToolDefinition,
} from './native/tool/define-tool.ts';
export { gatedTool } from './native/tool/gated-tool.ts';
export { type ProjectReadOptions, projectRead } from './native/tool/project-read.ts';
export { type ProjectSearchOptions, projectSearch } from './native/tool/project-search.ts';
export { type SqlQueryOptions, sqlQuery } from './native/tool/sql-query.ts';
export { type SubagentOptions, subagent } from './native/tool/subagent.ts';
export type { Misfit, Tool, ToolContext, ToolLimits, ToolOutput } from './native/tool/tool.ts';
export type { BudgetCounter, BudgetLimits, BudgetReport } from './protocol/budget.ts';
export type { Composition, Decision, Layer } from './protocol/composition.ts';
export type { Cell, DeliveryPlan, Receipt } from './protocol/delivery.ts';
export type { EventBody, EventType, LiveDelta, RunEvent } from './protocol/events.ts';
export type { RunResult, RunStatus } from './protocol/outcome.ts';
export type { RunRecord, SessionRecord } from './protocol/record.ts';
export type { ApproveMode, BoundFile, Ticket, TicketAnswer } from './protocol/ticket.ts';
export type { Usage } from './protocol/usage.ts';
export { type Analysis, analyse, type MetricAnalysis } from './prove/analysis.ts';
export { type Arm, type ArmParts, openArm } from './prove/arm.ts';
export { type Claim, claimsOf, claimText } from './prove/claims.ts';
export { evidenceFindings } from './prove/evidence.ts';
export { type Experiment, type Item, loadExperiment } from './prove/experiment.ts';
export type { Execute, ExperimentRun, Progress, RunRequest, RunSummary } from './prove/experiment-run.ts';
export type {
  Grade,
  GradeInput,
  Grader,
  GraderSurroundings,
  Judge,
  JudgePrompt,
  JudgeReply,
} from './prove/grade/grader.ts';
export {
  type Deviation,
  type ExperimentState,
  type Journal,
  type JournalAt,
  openJournal,
  readJournal,
  readJournalAt,
} from './prove/journal.ts';
export { reportPage } from './prove/page/page.ts';
export { planTrials } from './prove/plan.ts';
export { type RegisterOptions, register } from './prove/register.ts';
export { type Registration, registrationDigest, registrationOf } from './prove/registration.ts';
export { makeReport, type Present, type Report } from './prove/report.ts';
export { runExperiment } from './prove/run-experiment.ts';
export {
  type Bootstrap,
  type BootstrapOptions,
  clusterBootstrap,
  type Effect,
  type Interval,
} from './prove/statistics/bootstrap.ts';
export {
  type Blocks,
  blocksOf,
  type Estimand,
  type Estimate,
  estimate,
  itemNumbers,
} from './prove/statistics/estimand.ts';
export { mcNemar, signTest, signTestOfItems } from './prove/statistics/exact-tests.ts';
export { forestRows } from './prove/statistics/forest.ts';
export { type Seed, stream } from './prove/statistics/generator.ts';
export { holm } from './prove/statistics/holm.ts';
export { equivalence, hull, nonInferiority, superiority } from './prove/statistics/margin.ts';
export type { Outcomes } from './prove/statistics/outcomes.ts';
export { pairedDifference } from './prove/statistics/paired-difference.ts';
export { type PowerDesign, type PowerQuestion, power, smallestP } from './prove/statistics/power.ts';
export { type SignFlip, signFlip } from './prove/statistics/sign-flip.ts';
export { compareSurvival, pairTimes, survivalBootstrap, type TimeRow } from './prove/statistics/survival.ts';
export { armTotals, type CountRow, manipulationCheck } from './prove/statistics/totals.ts';
export {
  type MissingPolicy,
  type MissingReport,
  type PairedTable,
  pairTrials,
  type TrialRow,
} from './prove/statistics/trials.ts';
export type { Build } from './prove/surroundings.ts';
export type { PlannedTrial, TrialOutcome, TrialRow as ExperimentTrial } from './prove/trial.ts';
export { type Beside, readReport, type Verification, verifyReport } from './prove/verify.ts';
export type { Ask } from './run/approval.ts';
export { answerTicket, type Decision as TicketDecision } from './run/decide.ts';
export { forgetSession } from './run/forget.ts';
export { type EffectDecision, reconcileEffect } from './run/reconcile.ts';
export { type ResumeRequest, resumeRun, type StartRequest, startRun } from './run/run.ts';
export { readTrace, type Trace, type TraceSpan, traceLines } from './run/trace.ts';
export { type UnsettledEffect, unsettledOf } from './run/unsettled.ts';
export { type Gate, gatedSandbox, openGate } from './sandbox/gate.ts';
export { type Locator, locatorText, readLocator } from './sandbox/locator.ts';
export { probeReadiness, type Readiness } from './sandbox/probe.ts';
export type { CommandSpec, CommandStatus, EndReceipt, OutputPage, Sandbox } from './sandbox/sandbox.ts';
export {
  type BubblewrapOptions,
  bubblewrap as bubblewrapSandbox,
} from './sandbox/sandboxes/bubblewrap/bubblewrap.ts';
export { type LocalOptions, local as localSandbox } from './sandbox/sandboxes/local/local.ts';
export { type StartOptions, startCommand } from './sandbox/start-command.ts';
export type { StartOutcome } from './sandbox/start-outcome.ts';
