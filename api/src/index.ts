export { ApiKey } from './api-keys.ts'
export { contract } from './contract.ts'
export { Dataset, Retention } from './datasets.ts'
export {
  type BodyInput,
  type BodyOf,
  type Contract,
  type ContractGroup,
  type Endpoint,
  type Method,
  type ParamsOf,
  pathNames,
  type QueryInput,
  type QueryOf,
  type ReplyOf,
  type ReplyOutput,
  statusOf,
} from './endpoint.ts'
export {
  allPermissions,
  apiRoles,
  isSensitive,
  type Permission,
  permissionGroups,
  permissionType,
  roleName,
  type SystemRole,
  shownRole,
  systemRoles,
  userRoles,
} from './permissions.ts'
export { FailureBody, Identity, Metadata, Tags } from './values.ts'
