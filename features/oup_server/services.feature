@v1alpha1
Feature: What a server has beside its sessions

  @OUP-SYSTEM-001
  Scenario: A model that is not configured is called none
    Given a connection
    And the server serves system/status.get
    When the client calls system/status.get
    Then the server tells of a model where one is configured alone

  @OUP-AUTH-002
  Scenario: How one signs in is told to everybody
    Given a connection
    And the server serves auth/status
    When the client calls auth/status
    Then the answer is {"authenticated":"«any»"}

  @OUP-STATUS-001
  Scenario: MCP servers are counted
    Given a connection
    And the server serves mcp/status/list
    And a session
    When the client calls mcp/status/list with {"session_id":"«session»"}
    Then the summary counts the servers of the answer

  @OUP-STATUS-002
  Scenario: A contract of tools needs its feature
    Given a connection
    And the server serves tool/status/list
    And a session
    When the client calls tool/status/list with {"session_id":"«session»"}
    Then the contract of tools is there where it is negotiated alone

  @OUP-STATUS-003
  Scenario: A contract of tools that lacks one is incomplete
    Given a connection
    And the server serves tool/status/list
    And the server serves coding.tool_contract.v1
    And a session
    When the client calls tool/status/list with {"session_id":"«session»"}
    Then the contract of tools is incomplete where a tool is missing alone

  @OUP-ROUTER-001
  Scenario: A router has no other modes
    Given a connection
    And the server serves router/set_mode
    And a session
    And the session has a router
    Then each of these calls ends so:
      | rule           | call               | params                                       | ends                              |
      | OUP-ROUTER-001 | router/set_mode    | {"session_id":"«session»","mode":"sideways"} | error invalid_params without data |
      | OUP-ROUTER-001 | router/get_metrics | {"session_id":"«session»"}                   | result {"mode":"«mode»"}          |

  @OUP-ROUTER-002
  Scenario: A router that is not there
    Given a connection
    And the server serves router/get_metrics
    And a session
    When a turn starts that says something
    And the turn ends completed
    Then a server without a router says so of every request

  @OUP-ROUTER-003 @websocket
  Scenario: The mode of a router lasts as long as its server
    Given a server of its own
    And a connection
    And the server serves router/set_mode
    And a session
    And the session has a router
    When the client calls router/set_mode with {"session_id":"«session»","mode":"hedge"}
    Then the answer is {"mode":"hedge"}
    When the connection is closed
    Given a connection "next"
    When the client calls router/get_metrics with {"session_id":"«session»"}
    Then the answer is {"mode":"hedge"}
    When the server is killed and started again
    Given a connection "last"
    When the client calls router/get_metrics with {"session_id":"«session»"}
    Then the answer is {"mode":"«mode»"}

  @OUP-ROUTER-004
  Scenario: A router tells of itself around turns
    Given a connection
    And the server serves router/get_metrics
    And a session
    And the session has a router
    When a turn starts that uses a tool
    And the turn ends completed
    Then the router told nothing of itself between the pieces of the turn

  @OUP-ROUTER-006
  Scenario: Lanes are named after their provider and their model
    Given a connection
    And the server serves router/get_metrics
    And a session
    And the session has a router
    Then the lanes of the answer are named and sorted

  @OUP-SERVICE-001
  Scenario: Params of services are looked at
    Given a server of its own
    And a connection
    And a session
    Then each of these calls ends so:
      | rule            | call                       | params                                                                                          | ends                                                         |
      | OUP-SERVICE-001 | profile/local/create       | {"name":7}                                                                                      | error invalid_params kind profile_local_invalid_name         |
      | OUP-SERVICE-001 | onboarding/workspace_probe | {"path":7}                                                                                      | error invalid_params kind workspace_probe_invalid_path       |
      | OUP-SERVICE-001 | profile/llm/upsert         | {"selection":{"family_id":"conform-«unique»","model_id":"one"},"set_primary":"yes"}             | error invalid_params                                         |
      | OUP-SERVICE-001 | profile/llm/list           | {}                                                                                              | result {"fallbacks":["«none»",{"family_id":"conform-«unique»"}]} |
      | OUP-SERVICE-001 | profile/llm/select         | {"model_id":[]}                                                                                 | error invalid_params                                         |
      | OUP-SERVICE-001 | profile/llm/delete         | {"family_id":"conform-«unique»"}                                                                | error invalid_params                                         |
      | OUP-SERVICE-001 | router/get_metrics         | {}                                                                                              | error invalid_params                                         |
      | OUP-SERVICE-001 | mcp/status/list            | {"session_id":7}                                                                                | error invalid_params                                         |
      | OUP-SERVICE-001 | tool/status/list           | {}                                                                                              | error invalid_params                                         |
      | OUP-SERVICE-001 | launch/resolve             | {"cwd":false}                                                                                   | error invalid_params                                         |

  @OUP-SERVICE-020 @websocket
  Scenario: A work secret is for no service
    Given a work secret for "local:lab-«unique»"
    And a connection with the work secret
    When the client calls session/open with {"session_id":"local:lab-«unique»"}
    Then each of these calls ends so:
      | rule            | call                       | params                                | ends                  |
      | OUP-SERVICE-020 | auth/status                | {}                                    | error invalid_request |
      | OUP-SERVICE-020 | system/status.get          | {}                                    | error invalid_request |
      | OUP-SERVICE-020 | profile/llm/list           | {}                                    | error invalid_request |
      | OUP-SERVICE-020 | onboarding/workspace_probe | {"path":"«workspace»"}                | error invalid_request |
      | OUP-SERVICE-020 | launch/resolve             | {"cwd":"«workspace»"}                 | error invalid_request |
      | OUP-SERVICE-020 | mcp/status/list            | {"session_id":"local:lab-«unique»"}   | error invalid_request |
      | OUP-SERVICE-020 | peer/gather                | {}                                    | error invalid_request |
      | OUP-SERVICE-020 | router/get_metrics         | {"session_id":"local:other-«unique»"} | error invalid_request |

  @OUP-FEATURE-014
  Scenario: A semantic cache needs its feature
    Given a connection that names "context.lifecycle.v1, state.session_hydrate.v1"
    And the server serves context.lifecycle.v1
    And a session
    Then the answer is {"opened":{"context_state":{"cache_epoch_id":"«absent»","last_cache_invalidation_reason":"«absent»","semantic_head_id":"«absent»","semantic_head_kind":"«absent»"}}}
    When the client calls session/hydrate with {"session_id":"«session»"}
    Then the answer is {"context_state":{"cache_epoch_id":"«absent»","last_cache_invalidation_reason":"«absent»","semantic_head_id":"«absent»","semantic_head_kind":"«absent»"}}
