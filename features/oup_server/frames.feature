@v1alpha1
Feature: Frames

  @OUP-FRAME-010 @OUP-FRAME-011 @OUP-FRAME-012 @OUP-FRAME-015 @OUP-FRAME-016 @OUP-FRAME-017 @OUP-FRAME-018 @OUP-FRAME-019
  Scenario: A faulty frame is answered with a null id, and the next one is taken
    Given a connection
    Then each of these frames is met so:
      | rule          | frame                                                                              | met                    |
      | OUP-FRAME-010 | {"jsonrpc":"2.0","id":7,"method":"config/capabilities/list","params":{}}           | error parse_error      |
      | OUP-FRAME-010 | {"jsonrpc":"2.0","id":null,"method":"config/capabilities/list","params":{}}        | error parse_error      |
      | OUP-FRAME-011 | [{"jsonrpc":"2.0","id":"a","method":"x","params":{}},{"jsonrpc":"2.0","id":"b","method":"x","params":{}}] | error parse_error |
      | OUP-FRAME-012 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list"}                  | error parse_error      |
      | OUP-FRAME-015 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{},"result":{}} | error parse_error |
      | OUP-FRAME-015 | {"jsonrpc":"2.0","id":"«id»"}                                                      | error parse_error      |
      | OUP-FRAME-016 | {"jsonrpc":"1.0","id":"«id»","method":"config/capabilities/list","params":{}}      | error invalid_request  |
      | OUP-FRAME-016 | {"id":"«id»","method":"config/capabilities/list","params":{}}                      | error invalid_request  |
      | OUP-FRAME-017 | {"jsonrpc":"2.0","id":"«id»","result":{}}                                          | error parse_error      |
      | OUP-FRAME-017 | {"jsonrpc":"2.0","id":"«id»","error":{"code":1,"message":"no"}}                    | error parse_error      |
      | OUP-FRAME-018 | {"jsonrpc":"1.0","id":7,"method":"config/capabilities/list","params":{}}           | error invalid_request  |
      | OUP-FRAME-019 | {"jsonrpc":"2.0","id":"«id»","method":7,"params":{}}                               | error parse_error      |

  @OUP-FRAME-020
  Scenario: Behind a faulty frame the next one is taken
    Given a connection
    Then each of these frames is met so:
      | rule          | frame                                                                         | met               |
      | OUP-FRAME-020 | {"jsonrpc":                                                                   | error parse_error |
      | OUP-FRAME-020 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{}} | answer result     |

  @OUP-FRAME-005 @stdio
  Scenario: The bound of a frame is exact
    Given a connection
    Then each of these frames is met so:
      | rule          | frame                                                                                                 | met                                                |
      | OUP-FRAME-005 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{"additional":"«fill max»"}}   | answer result                                      |
      | OUP-FRAME-005 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{"additional":"«fill max+1»"}} | error frame_too_large data {"limit_bytes":1048576} |

  @OUP-FRAME-005 @websocket
  Scenario: A frame of the bound is read over WebSocket
    Given a connection
    Then each of these frames is met so:
      | rule          | frame                                                                                               | met           |
      | OUP-FRAME-005 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{"additional":"«fill max»"}} | answer result |

  @OUP-STDIO-004 @stdio
  Scenario: A line far over the bound is dropped up to its end
    Given a connection
    Then each of these frames is met so:
      | rule          | frame                   | met                                                |
      | OUP-STDIO-004 | «repeat 2000000 x»      | error frame_too_large data {"limit_bytes":1048576} |

  @OUP-FRAME-008 @OUP-FRAME-009 @OUP-FRAME-014
  Scenario: Ids come back as they were, each once
    Given a connection
    And a session
    Then each of these frames is met so:
      | rule          | frame                                                                                       | met           |
      | OUP-FRAME-014 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":null}             | answer result |
      | OUP-FRAME-014 | {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{}}               | answer result |
      | OUP-FRAME-009 | {"jsonrpc":"2.0","id":"«id»","method":"session/status/read","params":{"session_id":"«session»"}} | answer        |
    And these frames in one write are all answered:
      """
      {"jsonrpc":"2.0","id":" spaced ","method":"config/capabilities/list","params":{}}
      """

  @OUP-FRAME-008
  Scenario: An empty id comes back
    Given a connection
    Then these frames in one write are all answered:
      """
      {"jsonrpc":"2.0","id":"","method":"config/capabilities/list","params":{}}
      """

  @OUP-FRAME-021 @OUP-FRAME-022 @OUP-FRAME-023 @OUP-SOCKET-014
  Scenario: Notifications are met with silence
    Given a connection
    Then each of these frames is met so:
      | rule           | frame                                                      | met     |
      | OUP-FRAME-021  | {"jsonrpc":"2.0","method":"nobody/knows","params":{}}      | silence |
      | OUP-FRAME-022  | {"jsonrpc":"2.0","method":"ping","params":7}               | silence |
      | OUP-FRAME-023  | {"jsonrpc":"2.0","method":"nobody/knows"}                  | silence |
      | OUP-SOCKET-014 | {"jsonrpc":"2.0","method":"ping","params":{"ts":1}}        | silence |

  @OUP-FRAME-026 @OUP-FRAME-029 @OUP-FRAME-031
  Scenario: What no model lists, and what is not there, does no harm
    Given a connection
    And a session
    Then each of these calls ends so:
      | rule          | call         | params                                                                                        | ends   |
      | OUP-FRAME-026 | session/open | {"session_id":"«session»","additional":{"a":1}}                                               | result |
      | OUP-FRAME-029 | session/open | {"session_id":"«session»","topic":null,"profile_id":null,"cwd":null,"after":null}             | result |
      | OUP-FRAME-031 | turn/start   | {"session_id":"«session»","turn_id":"«uuid»","input":[{"kind":"text","text":"«say»"}]} | result |

  @OUP-FRAME-035
  Scenario: Several requests in one write
    Given a connection
    And a session
    Then these frames in one write are all answered:
      """
      {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{}}
      {"jsonrpc":"2.0","id":"«id»","method":"session/status/read","params":{"session_id":"«session»"}}
      {"jsonrpc":"2.0","id":"«id»","method":"session/open","params":{"session_id":"«session»"}}
      {"jsonrpc":"2.0","id":"«id»","method":"nobody/knows","params":{}}
      {"jsonrpc":"2.0","id":"«id»","method":"config/capabilities/list","params":{}}
      """

  @OUP-FRAME-034 @OUP-FRAME-003
  Scenario: A long text is cut in frames
    Given a connection
    And a session
    When a turn starts that says a lot
    Then the turn ends completed
    And these come in order:
      | frame                     | that is                                  |
      | piece assistant_persisted | {"text":"«at most 524288»"}              |

  @OUP-FRAME-033
  Scenario: A result that does not fit is cut to the newest rows
    Given a connection that names "state.session_hydrate.v1"
    And a session
    When a turn starts that says a lot
    Then the turn ends completed
    When a turn starts that says a lot
    Then the turn ends completed
    When a turn starts that says a lot
    Then the turn ends completed
    When the client calls session/hydrate with {"session_id":"«session»","include":["messages"]}
    Then the answer is {"truncated":true,"messages":["«some»",{"turn_id":"«turn»"}]}

  @OUP-FRAME-001 @OUP-FRAME-003 @OUP-FRAME-028 @OUP-FRAME-036 @OUP-PROGRESS-003 @OUP-PROGRESS-010 @OUP-PROGRESS-014
  Scenario: What a server writes has its form
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/status/read with {"session_id":"«session»"}
    Then no frame breaks a rule of this scenario
