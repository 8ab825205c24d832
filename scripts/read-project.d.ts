export interface Project {
  readonly modules: readonly {readonly path: string; readonly text: string}[];
  readonly titles: readonly {readonly path: string; readonly title: string}[];
}

export declare function readProject(root: URL): Project;
