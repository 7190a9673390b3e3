@v1alpha1
Feature: Tasks beside the conversation

  @OUP-TASK-004 @OUP-TASK-005 @OUP-TASK-009 @OUP-TASK-030 @OUP-TASK-031 @OUP-TASK-032 @OUP-TASK-036
  Scenario: A task begins, writes and ends, and stays as it is then
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    And each of these calls ends so:
      | rule         | call        | params                                           | ends                                                     |
      | OUP-TASK-009 | task/cancel | {"session_id":"«session»","task_id":"«task»"}    | error invalid_params kind task_already_terminal          |
      | OUP-TASK-009 | task/list   | {"session_id":"«session»"}                       | result {"tasks":[{"id":"«task»","state":"completed"}]}   |
    And no frame breaks a rule of this scenario

  @OUP-TASK-031
  Scenario: A piece of output stands where it says
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    And each piece of what the task has written was told where it stands

  @OUP-TASK-032
  Scenario: What a task has written is told to its end
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    And all of what the task has written was told

  @OUP-TASK-004 @OUP-TASK-006 @OUP-TASK-009 @OUP-TASK-010 @OUP-TASK-012
  Scenario: A task that goes on is cancelled
    Given a connection
    And a session
    When a task starts that goes on
    Then the task writes something
    And each of these calls ends so:
      | rule         | call                   | params                                        | ends                                                   |
      | OUP-TASK-004 | task/list              | {"session_id":"«session»"}                    | result {"tasks":[{"id":"«task»","state":"running"}]}   |
      | OUP-TASK-012 | task/restart_from_node | {"session_id":"«session»","task_id":"«task»"} | error invalid_params kind task_still_active            |
      | OUP-TASK-010 | task/cancel            | {"session_id":"«session»","task_id":"«task»"} | result {"task_id":"«task»","status":"cancelled"}       |
      | OUP-TASK-006 | task/list              | {"session_id":"«session»"}                    | result {"tasks":["«some»",{"id":"«task»","state":"cancelled"}]} |
      | OUP-TASK-009 | task/cancel            | {"session_id":"«session»","task_id":"«task»"} | error invalid_params kind task_already_terminal        |
      | OUP-TASK-009 | task/list              | {"session_id":"«session»"}                    | result {"tasks":["«some»",{"id":"«task»","state":"cancelled"}]} |
    And the task ends cancelled
    And no frame breaks a rule of this scenario

  @OUP-TASK-011 @OUP-TASK-013 @OUP-TASK-014
  Scenario: A task that has ended is run again as another one
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    When the client calls task/list with {"session_id":"«session»"}
    Then "tasks.0" of the answer is remembered as "row"
    And each of these calls ends so:
      | rule         | call                   | params                                        | ends                                                                     |
      | OUP-TASK-011 | task/restart_from_node | {"task_id":"«task»"}                          | error invalid_params                                                     |
      | OUP-TASK-014 | task/restart_from_node | {"session_id":"«session»","task_id":"«task»"} | result {"from_node":"«absent»"}                                          |
      | OUP-TASK-013 | task/restart_from_node | {"session_id":"«session»","task_id":"«task»"} | result {"original_task_id":"«task»","new_task_id":"«other than task»"}   |
    And "new_task_id" of the answer is remembered as "next"
    And each of these calls ends so:
      | rule         | call      | params                     | ends                                                |
      | OUP-TASK-013 | task/list | {"session_id":"«session»"} | result {"tasks":["«some»","«row»"]}                 |
      | OUP-TASK-013 | task/list | {"session_id":"«session»"} | result {"tasks":["«some»",{"id":"«next»"}]}         |
    And the task "next" ends completed

  @OUP-TASK-015
  Scenario: Whatever is told of a task that was run again names the one before it
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    When the client calls task/restart_from_node with {"session_id":"«session»","task_id":"«task»"}
    Then "new_task_id" of the answer is remembered as "next"
    And the task "next" ends completed
    And the event task/updated comes with {"task_id":"«next»","relaunched_from":"«task»"}
    And no event task/updated comes with {"task_id":"«next»","relaunched_from":"«absent»"}

  @OUP-TASK-014
  Scenario: A node that is taken is named, and no other
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    When the client calls task/restart_from_node with {"session_id":"«session»","task_id":"«task»","node_id":"first"}
    Then the answer is {"from_node":"«absent or first»"}

  @OUP-TASK-016 @OUP-TASK-017 @OUP-TASK-018 @OUP-TASK-019 @OUP-TASK-020 @OUP-TASK-021
  Scenario: Stretches of what a task has written
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    When the client calls task/output/read with {"session_id":"«session»","task_id":"«task»"}
    Then "total_bytes" of the answer is remembered as "total"
    And each of these calls ends so:
      | rule         | call             | params                                                                                                | ends                                                                                          |
      | OUP-TASK-018 | task/output/read | {"session_id":"«session»","task_id":"«task»"}                                                         | result {"cursor":{"offset":0},"text":"«at most 65536»"}                                       |
      | OUP-TASK-018 | task/output/read | {"session_id":"«session»","task_id":"«task»","limit_bytes":9007199254740991}                          | result {"text":"«at most 1048576»"}                                                           |
      | OUP-TASK-019 | task/output/read | {"session_id":"«session»","task_id":"«task»","limit_bytes":4}                                         | result {"next_cursor":{"offset":4},"truncated":true,"complete":false}                         |
      | OUP-TASK-019 | task/output/read | {"session_id":"«session»","task_id":"«task»","cursor":{"offset":"«total»"}}                           | result {"truncated":false,"complete":true}                                                    |
      | OUP-TASK-016 | task/output/read | {"session_id":"«session»","task_id":"«task»","cursor":{"offset":9007199254740991}}                    | result {"cursor":{"offset":"«total»"},"next_cursor":{"offset":"«total»"},"text":""}           |
      | OUP-TASK-016 | task/output/read | {"session_id":"«session»","task_id":"«task»","cursor":{"offset":1},"limit_bytes":2}                   | result {"cursor":{"offset":2},"text":"é"}                                                     |
      | OUP-TASK-017 | task/output/read | {"session_id":"«session»","task_id":"«task»","limit_bytes":3}                                         | result {"next_cursor":{"offset":2},"text":"é"}                                                |
      | OUP-TASK-021 | task/output/read | {"session_id":"«session»","task_id":"«task»","cursor":{"offset":2},"limit_bytes":2}                   | result {"bytes_read":2,"next_cursor":{"offset":4},"text":"é"}                                 |
      | OUP-TASK-020 | task/output/read | {"session_id":"local:nobody","task_id":"«task»"}                                                      | error unknown_session kind unknown_session                                                    |
      | OUP-TASK-020 | task/output/read | {"session_id":"«session»","task_id":"«uuid»"}                                                         | error unknown_task_id kind unknown_task                                                       |

  @OUP-TASK-024 @OUP-TASK-025 @OUP-TASK-026 @OUP-TASK-027 @OUP-TASK-037
  Scenario: What a task has left
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    And each of these calls ends so:
      | rule         | call               | params                                                                                | ends                                                                                                       |
      | OUP-TASK-024 | task/artifact/read | {"session_id":"«session»","task_id":"«task»"}                                         | error invalid_params kind task_artifact_selector_invalid                                                   |
      | OUP-TASK-025 | task/artifact/read | {"session_id":"«session»","task_id":"«task»","artifact_id":"nothing"}                 | error resource_not_found kind task_artifact_not_found data {"artifact_id":"nothing"}                       |
      | OUP-TASK-026 | task/artifact/list | {"session_id":"«session»","task_id":"«task»"}                                         | result {"artifacts":[{"id":"output-01","status":"ready"},{"id":"output-02","status":"ready"}]}             |
      | OUP-TASK-037 | task/artifact/list | {"session_id":"«session»","task_id":"«task»"}                                         | result {"artifacts":["«each»",{"path":"«absent or a handle»"}]}                                            |
      | OUP-TASK-037 | task/list          | {"session_id":"«session»"}                                                            | result {"tasks":[{"id":"«task»","output_files":["«each»","«handle»"]}]}                                    |
    And each artifact of the task is shown as what it is
    And each of these calls ends so:
      | rule         | call               | params                                                                                         | ends                          |
      | OUP-TASK-027 | task/artifact/read | {"session_id":"«session»","task_id":"«task»","artifact_id":"«artifact»","limit_bytes":0}       | result {"content":"«content»"} |

  @OUP-TASK-028
  Scenario: An artifact has content where it is text
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    And each artifact of the task is shown as what it is

  @OUP-TASK-002
  Scenario: Tasks of a topic
    Given a connection
    And a session with {"topic":"build"}
    When a task starts
    Then the task ends completed
    And each of these calls ends so:
      | rule         | call      | params                                       | ends                                   |
      | OUP-TASK-002 | task/list | {"session_id":"«base»","topic":"build"}      | result {"tasks":[{"id":"«task»"}]}     |
      | OUP-TASK-002 | task/list | {"session_id":"«session»","topic":"  "}      | result {"tasks":[{"id":"«task»"}]}     |
      | OUP-TASK-002 | task/list | {"session_id":"«base»","topic":"  "}         | result {"tasks":"«absent or empty»"}   |
      | OUP-TASK-002 | task/list | {"session_id":"«session»","topic":"another"} | result {"tasks":"«absent or empty»"}   |

  @OUP-TASK-008 @OUP-TASK-020
  Scenario: A task is that of one session
    Given a connection
    And a session
    When a task starts that goes on
    Then the task writes something
    Given a session "other"
    Then each of these calls ends so:
      | rule         | call                   | params                                        | ends                                                                |
      | OUP-TASK-008 | task/cancel            | {"session_id":"«other»","task_id":"«task»"}   | error unknown_task_id kind unknown_task data {"task_id":"«task»"}   |
      | OUP-TASK-008 | task/restart_from_node | {"session_id":"«other»","task_id":"«task»"}   | error unknown_task_id kind unknown_task data {"task_id":"«task»"}   |
      | OUP-TASK-020 | task/output/read       | {"session_id":"«other»","task_id":"«task»"}   | error unknown_task_id kind unknown_task data {"task_id":"«task»"}   |
      | OUP-TASK-008 | task/list              | {"session_id":"«session»"}                    | result {"tasks":[{"id":"«task»","state":"running"}]}                |

  @OUP-TASK-034 @websocket
  Scenario: Tasks outlive their server
    Given a connection
    And a session
    When a task starts
    Then the task ends completed
    When a task starts that goes on
    Then the task writes something
    When the server is killed and started again
    Given a connection
    When the client calls session/open with {"session_id":"«session»"}
    Then each of these calls ends so:
      | rule         | call               | params                                               | ends                                                                  |
      | OUP-TASK-034 | task/list          | {"session_id":"«session»"}                           | result {"tasks":["«some»",{"id":"«task before»","state":"completed"}]} |
      | OUP-TASK-034 | task/list          | {"session_id":"«session»"}                           | result {"tasks":["«some»",{"id":"«task»"}]}                           |
      | OUP-TASK-034 | task/list          | {"session_id":"«session»"}                           | result {"tasks":["«none»",{"state":"running"}]}                       |
      | OUP-TASK-034 | task/list          | {"session_id":"«session»"}                           | result {"tasks":["«none»",{"state":"pending"}]}                       |
      | OUP-TASK-034 | task/output/read   | {"session_id":"«session»","task_id":"«task»"}        | result {"text":"«text»"}                                              |
      | OUP-TASK-034 | task/artifact/list | {"session_id":"«session»","task_id":"«task before»"} | result {"artifacts":[{"status":"ready"},{"status":"ready"}]}          |

  @OUP-TASK-035
  Scenario: Tasks are listed where there is somebody to look after them
    Given a connection
    And a session
    Then tasks are listed, or nobody looks after them

  @OUP-REPLAY-011
  Scenario: What an open tells of tasks is not kept
    Given a connection
    And a session
    When a task starts that goes on
    Then the task writes something
    When the client calls session/hydrate with {"session_id":"«session»"}
    Then "cursor" of the answer is remembered as "rest"
    When the client calls session/open with {"session_id":"«session»"}
    Then the event session/open comes
    When the client calls session/open with {"session_id":"«session»"}
    Then the event session/open comes
    When the client calls session/open with {"session_id":"«session»","after":"«rest»"}
    Then the event session/open comes
    And the task is told once at most

  @OUP-STREAM-011
  Scenario: What comes behind the end of its turn has a stream of its own
    Given a connection
    And a session
    When a turn starts that says something
    Then the turn ends completed
    When the client calls session/append_message with {"session_id":"«session»","role":"assistant","content":"By the way.","source":"test","thread_id":"«turn»"}
    Then the event projection/envelope comes with {"thread_id":"«other than turn»"}
    And no frame breaks a rule of this scenario
