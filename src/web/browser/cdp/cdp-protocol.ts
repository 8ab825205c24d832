/** The part of the DevTools protocol that is used here; names and shapes are Chromium's. */
export interface CdpHeader {
  readonly name: string;
  readonly value: string;
}

interface Command<Params, Answer> {
  readonly params: Params;
  readonly answer: Answer;
}

type Nothing = Readonly<Record<string, never>>;

export interface CdpCommands {
  readonly 'Browser.getVersion': Command<Nothing, {readonly product: string}>;
  readonly 'Browser.setDownloadBehavior': Command<{readonly behavior: 'deny'}, Nothing>;
  readonly 'Emulation.setFocusEmulationEnabled': Command<{readonly enabled: boolean}, Nothing>;
  readonly 'Fetch.enable': Command<{readonly patterns: readonly {readonly urlPattern: string}[]}, Nothing>;
  readonly 'Fetch.fulfillRequest': Command<
    {
      readonly requestId: string;
      readonly responseCode: number;
      readonly responseHeaders: readonly CdpHeader[];
      /** Base64. */
      readonly body?: string;
    },
    Nothing
  >;
  readonly 'Fetch.failRequest': Command<
    {readonly requestId: string; readonly errorReason: ErrorReason},
    Nothing
  >;
  readonly 'Network.enable': Command<
    {readonly maxTotalBufferSize: number; readonly maxResourceBufferSize: number},
    Nothing
  >;
  readonly 'Network.setBypassServiceWorker': Command<{readonly bypass: boolean}, Nothing>;
  readonly 'Page.createIsolatedWorld': Command<
    {readonly frameId: string},
    {readonly executionContextId: number}
  >;
  readonly 'Page.enable': Command<Nothing, Nothing>;
  readonly 'Page.handleJavaScriptDialog': Command<{readonly accept: boolean}, Nothing>;
  readonly 'Runtime.evaluate': Command<
    {
      readonly expression: string;
      /** Default: that of the page's own scripts. */
      readonly contextId?: number;
      readonly awaitPromise?: true;
      readonly returnByValue: true;
    },
    {readonly result: {readonly value?: unknown}; readonly exceptionDetails?: unknown}
  >;
  readonly 'Runtime.runIfWaitingForDebugger': Command<Nothing, Nothing>;
  readonly 'Runtime.terminateExecution': Command<Nothing, Nothing>;
  readonly 'Target.closeTarget': Command<{readonly targetId: string}, Nothing>;
  readonly 'Target.createTarget': Command<{readonly url: string}, {readonly targetId: string}>;
  readonly 'Target.setAutoAttach': Command<
    {readonly autoAttach: boolean; readonly waitForDebuggerOnStart: boolean; readonly flatten: boolean},
    Nothing
  >;
}

export type ErrorReason =
  | 'Aborted'
  | 'BlockedByClient'
  | 'ConnectionFailed'
  | 'Failed'
  | 'NameNotResolved'
  | 'TimedOut';

export interface PausedRequest {
  readonly requestId: string;
  readonly frameId: string;
  readonly resourceType: string;
  /** What the `Network` events call it. A page's first document has none. */
  readonly networkId?: string;
  /** The paused request whose answer, a redirect, led to this one. */
  readonly redirectedRequestId?: string;
  readonly request: {
    /** Without fragment. */
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export interface AttachedTarget {
  /** Of the new session. */
  readonly sessionId: string;
  readonly targetInfo: {readonly targetId: string; readonly type: string};
}

export interface NavigatedFrame {
  readonly frame: {readonly id: string; readonly url: string};
}

export interface NetworkResponse {
  readonly response: {
    readonly url: string;
    /** Set only where a socket was used. */
    readonly remoteIPAddress?: string;
    readonly connectionId: number;
  };
}

export interface EndedLoad {
  /** A `networkId`. */
  readonly requestId: string;
}

export interface CdpEvents {
  readonly 'Fetch.requestPaused': PausedRequest;
  readonly 'Inspector.targetCrashed': Nothing;
  readonly 'Network.loadingFailed': EndedLoad;
  readonly 'Network.loadingFinished': EndedLoad;
  readonly 'Network.responseReceived': NetworkResponse;
  readonly 'Network.webSocketWillSendHandshakeRequest': Nothing;
  readonly 'Network.webSocketHandshakeResponseReceived': Nothing;
  readonly 'Network.webSocketFrameError': {readonly errorMessage: string};
  readonly 'Network.webSocketFrameSent': Nothing;
  readonly 'Network.webSocketFrameReceived': Nothing;
  readonly 'Network.webTransportConnectionEstablished': Nothing;
  readonly 'Page.domContentEventFired': Nothing;
  readonly 'Page.frameNavigated': NavigatedFrame;
  readonly 'Page.frameStoppedLoading': {readonly frameId: string};
  readonly 'Page.javascriptDialogOpening': Nothing;
  readonly 'Target.attachedToTarget': AttachedTarget;
}
