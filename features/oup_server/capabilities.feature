@v1alpha1
Feature: Capabilities and features

  @OUP-VERSION-001 @OUP-CAPABILITY-002 @OUP-CAPABILITY-003 @OUP-CAPABILITY-004 @OUP-CAPABILITY-006 @OUP-FEATURE-007 @OUP-FEATURE-009 @OUP-FEATURE-010
  Scenario: Every method is listed, with a reason where it cannot be called
    Given a connection that names "coding.goal_runtime.v1, coding.agent_control.v1, projection.envelope.v1, approval.typed.v1"
    When the client calls config/capabilities/list
    Then the answer is {"capabilities":{"version":{"protocol":"«protocol»","schema_version":1,"jsonrpc":"2.0"},"supported_methods":["«some»","config/capabilities/list"]}}
    And no frame breaks a rule of this scenario

  @OUP-CAPABILITY-001
  Scenario: What can be called is what is listed
    Given a connection
    Then what can be called is what is listed

  @OUP-CAPABILITY-001
  Scenario: What can be called is what is listed, with one feature
    Given a connection that names "state.session_hydrate.v1"
    Then what can be called is what is listed

  @OUP-CAPABILITY-005
  Scenario: Capabilities need no session
    Given a connection that names no feature
    When the client calls config/capabilities/list with {"session_id":7,"additional":[]}
    Then the answer is {"capabilities":{"supported_methods":"«list»"}}

  @OUP-CAPABILITY-007
  Scenario: An open tells the capabilities of its connection
    Given a connection
    And features that the server serves are remembered as "one, two"
    When the client calls client_hello with {"supported_features":["«two»"]}
    And "capabilities.supported_features" of the answer is remembered as "features"
    And "capabilities.supported_methods" of the answer is remembered as "methods"
    Given a session
    Then the answer is {"opened":{"capabilities":{"supported_features":"«elements of features»","supported_methods":"«elements of methods»"}}}

  @OUP-CAPABILITY-007
  Scenario: A status tells the capabilities of its connection
    Given a connection
    And features that the server serves are remembered as "one, two"
    And a session
    When the client calls client_hello with {"supported_features":["«two»"]}
    And "capabilities.supported_features" of the answer is remembered as "features"
    When the client calls session/status/read with {"session_id":"«session»"}
    Then the answer is {"capabilities":{"supported_features":"«elements of features»"}}

  @OUP-FEATURE-001 @websocket
  Scenario: Without a feature what needs to be named stays closed
    Given a connection that names no feature
    When the client calls config/capabilities/list
    Then the answer is {"capabilities":{"supported_features":["«none»","auxiliary.rest_to_ws.v1"],"supported_methods":["«none»","session/list"]}}

  @OUP-FEATURE-002 @OUP-HELLO-003
  Scenario: Blank features and empty lists change nothing
    Given a connection
    And features that the server serves are remembered as "one"
    When the client calls client_hello with {"supported_features":["«one»"]}
    Then each of these calls ends so:
      | rule            | call         | params                            | ends                                                              |
      | OUP-HELLO-003   | client_hello | {"supported_features":[]}         | result {"capabilities":{"supported_features":["«some»","«one»"]}} |
      | OUP-HELLO-003   | client_hello | {}                                | result {"capabilities":{"supported_features":["«some»","«one»"]}} |
      | OUP-FEATURE-002 | client_hello | {"supported_features":["", "  "]} | result {"capabilities":{"supported_features":["«some»","«one»"]}} |

  @OUP-FEATURE-003
  Scenario: The features in force are in the order of the registry
    Given a connection
    And features that the server serves are remembered as "one, two"
    When the client calls client_hello with {"supported_features":["«two»","«one»"]}
    Then the answer is {"capabilities":{"supported_features":["«some»","«one»"]}}
    And the answer is {"capabilities":{"supported_features":["«some»","«two»"]}}

  @OUP-FEATURE-004
  Scenario: Features that nobody knows are passed over
    Given a connection
    And features that the server serves are remembered as "one"
    When the client calls client_hello with {"supported_features":["nobody.knows.v9","«one»"]}
    Then the answer is {"capabilities":{"supported_features":["«some»","«one»"]}}

  @OUP-FEATURE-005 @OUP-FEATURE-006
  Scenario: The features in force are the named ones
    Given a connection
    Then each of these calls ends so:
      | rule            | call         | params                                                                                         | ends                                                                                     |
      | OUP-FEATURE-005 | client_hello | {"supported_features":["approval.typed.v1"]}                                                   | result {"capabilities":{"supported_features":["«none»","state.thread_graph.v1"]}}        |
      | OUP-FEATURE-006 | client_hello | {"supported_features":["approval.typed.v1"]}                                                   | result {"capabilities":{"supported_methods":["«none»","session/list"]}}                  |

  @OUP-FEATURE-003 @websocket
  Scenario: Features that nobody knows count as named
    Given a connection that names "nobody.knows.v9"
    When the client calls config/capabilities/list
    Then the answer is {"capabilities":{"supported_methods":["«none»","session/hydrate"]}}

  @OUP-FEATURE-008 @websocket
  Scenario: Features are a matter of one connection
    Given a connection "all"
    And features that the server serves are remembered as "one, two"
    And a connection that names "«one»"
    And a connection "second"
    When the client calls client_hello with {"supported_features":["«two»"]}
    And the client turns to connection "first"
    And the client calls config/capabilities/list
    Then the answer is {"capabilities":{"supported_features":["«some»","«one»"]}}
    And the answer is {"capabilities":{"supported_features":["«none»","«two»"]}}

  @OUP-FEATURE-011 @OUP-STREAM-001
  Scenario: Pieces of a turn need no feature
    Given a connection that names "approval.typed.v1"
    And a session
    When a turn starts that says something
    Then the turn ends completed

  @OUP-FEATURE-012
  Scenario: Typed members need their feature
    Given a connection that names "state.session_hydrate.v1"
    And a session
    When a turn starts that needs an approval
    Then the event approval/requested comes with {"title":"«text»","typed_details":"«absent»","approval_kind":"«absent»","risk":"«absent»","render_hints":"«absent»"}

  @OUP-FEATURE-013
  Scenario: Context needs its feature
    Given a connection that names "state.session_hydrate.v1"
    And a session
    Then the answer is {"opened":{"context":"«absent»","context_state":"«absent»"}}
    When the client calls session/compact with {"session_id":"«session»"}
    Then no event context/compaction_completed comes
    When the client calls session/hydrate with {"session_id":"«session»"}
    Then the answer is {"context":"«absent»","context_state":"«absent»"}

  @OUP-FEATURE-016 @OUP-FEATURE-017
  Scenario: A closed gate is reported before anything else
    Given a connection that names "approval.typed.v1"
    And a session
    Then each of these calls ends so:
      | rule            | call            | params                      | ends                                                                          |
      | OUP-FEATURE-016 | session/list    | {"cwd":7}                   | error method_not_supported data {"method":"session/list","reason":"«text»"}    |
      | OUP-FEATURE-017 | session/hydrate | {"session_id":"«session»"}  | error method_not_supported data {"method":"session/hydrate","reason":"«text»"} |

  @OUP-HELLO-001
  Scenario: A hello may come again, and is needed for nothing
    Given a connection that names no feature
    Then each of these calls ends so:
      | rule          | call         | params                    | ends                                            |
      | OUP-HELLO-001 | session/open | {"session_id":"local:h-«unique»"}  | result {"opened":{"session_id":"local:h-«unique»"}}      |
      | OUP-HELLO-001 | client_hello | {}                        | result {"type":"server_hello"}                  |
      | OUP-HELLO-001 | client_hello | {"client":{"name":"c"}}   | result {"type":"server_hello"}                  |

  @OUP-HELLO-004
  Scenario: New features hold behind the answer
    Given a connection
    When the client calls client_hello with {"supported_features":["state.session_hydrate.v1"]}
    Then the answer is {"capabilities":{"supported_features":["«none»","state.thread_graph.v1"]}}
    When the client calls config/capabilities/list
    Then the answer is {"capabilities":{"supported_features":["«none»","state.thread_graph.v1"]}}

  @OUP-HELLO-002 @OUP-HELLO-005 @OUP-HELLO-006
  Scenario: What a hello says
    Given a connection
    Then each of these calls ends so:
      | rule          | call                     | params                                          | ends                                                                                        |
      | OUP-HELLO-002 | client_hello             | {"features":["state.session_hydrate.v1"]}       | result {"capabilities":{"supported_features":["«none»","state.thread_graph.v1"]}}           |
      | OUP-HELLO-002 | client_hello             | {"requested_features":["state.thread_graph.v1"]} | result {"capabilities":{"supported_features":["«none»","state.session_hydrate.v1"]}}        |
      | OUP-HELLO-005 | client_hello             | {"transport":"pigeon","client":{"name":"c"}}    | result {"client_transport":"pigeon","client":{"name":"c"},"transport":"«transport»"}         |
      | OUP-HELLO-005 | client_hello             | {}                                              | result {"client_transport":null,"client":null,"transport":"«transport»"}                     |
      | OUP-HELLO-006 | client_hello             | {"client":"nobody"}                             | result {"client":"nobody"}                                                                  |
      | OUP-HELLO-006 | client_hello             | {"transport":7}                                 | error invalid_params                                                                        |

  @OUP-SHUTDOWN-002 @stdio
  Scenario: A server over standard streams is not ended by a request
    Given a connection
    When the client calls server/shutdown
    Then the error is method_not_supported with {"method":"server/shutdown","reason":"«text»"}
